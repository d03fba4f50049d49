// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package inject

import (
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// Operation is one operation of a JSON patch (RFC 6902). Its value is always
// written: a test against null asks that the field be absent, as the API server's
// patch library reads it.
type Operation struct {
	Op    string `json:"op"`
	Path  string `json:"path"`
	Value any    `json:"value"`
}

// patch is a list of changes, each behind a test: applied to another pod than the
// one it was made for, it fails as a whole rather than corrupt that pod.
type patch []Operation

func (p *patch) guard(path string, want any) {
	*p = append(*p, Operation{Op: "test", Path: path, Value: want})
}

func (p *patch) replace(path string, before, after any) {
	p.guard(path, before)
	*p = append(*p, Operation{Op: "replace", Path: path, Value: after})
}

// add puts a member into an object in which it is absent.
func (p *patch) add(path string, value any) {
	p.guard(path, nil)
	*p = append(*p, Operation{Op: "add", Path: path, Value: value})
}

// put adds a member to the object at path, which is absent from the pod if have is
// nil, and takes the place of the member of that name if there is one.
func (p *patch) put(path, name, value string, have map[string]string) {
	if have == nil {
		p.add(path, map[string]string{name: value})
		return
	}
	path += "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(name)
	if before, found := have[name]; found {
		p.replace(path, before, value)
		return
	}
	p.add(path, value)
}

// prepend puts a container before those of the list at path, which are have; nil
// if the list is absent.
func (p *patch) prepend(path string, container corev1.Container, have []corev1.Container) {
	switch {
	case have == nil:
		p.add(path, []corev1.Container{container})
		return
	case len(have) == 0:
		p.guard(path, []any{})
	default:
		p.guard(path+"/0/name", have[0].Name)
	}
	*p = append(*p, Operation{Op: "add", Path: path + "/0", Value: container})
}

// extend puts volumes behind those of the list at path, which are have; nil if the
// list is absent.
func (p *patch) extend(path string, volumes, have []corev1.Volume) {
	if have == nil {
		p.add(path, volumes)
		return
	}
	for count, volume := range volumes {
		last := len(have) + count - 1
		switch {
		case last < 0:
			p.guard(path, []any{})
		case count == 0:
			p.guard(path+"/"+strconv.Itoa(last)+"/name", have[last].Name)
		default:
			p.guard(path+"/"+strconv.Itoa(last)+"/name", volumes[count-1].Name)
		}
		*p = append(*p, Operation{Op: "add", Path: path + "/" + strconv.Itoa(last+1), Value: volume})
	}
}
