// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
	kjson "sigs.k8s.io/json"

	"github.com/penstock-dev/penstock/api/v1alpha1"
	"github.com/penstock-dev/penstock/internal/compile"
)

// errInvalidPolicy marks errors of policy files.
var errInvalidPolicy = errors.New("invalid policy")

// errUnreadable marks policy files that cannot be read at all.
var errUnreadable = errors.New("read policy file")

// maxPolicyFileBytes is how long a file of policies may be.
const maxPolicyFileBytes = 16 << 20

// document is one policy of a file.
type document struct {
	file   string
	policy *v1alpha1.RateLimitPolicy
	lines  *jsonDocument
}

// problem is an error of a field of the document, with file and line.
func (d *document) problem(field, message string) error {
	return fileError(d.file, &lineError{d.lines.lineOf(field), field, errors.New(message)})
}

// readPolicies reads all policies of a file, which may have several documents. The error
// is of all that is wrong in it; what could be read is returned beside it.
func readPolicies(file string) ([]*document, error) {
	text, err := readWhole(file)
	if err != nil {
		return nil, fileError(file, fmt.Errorf("%w: %w", errUnreadable, err))
	}
	if err := checkEncoding(text); err != nil {
		return nil, fileError(file, &lineError{1, "", err})
	}
	var documents []*document
	var problems []error
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	for {
		var node yaml.Node
		err := decoder.Decode(&node)
		switch {
		case errors.Is(err, io.EOF):
			if len(documents)+len(problems) == 0 {
				problems = append(problems, fileError(file, &lineError{1, "", errors.New("the file has no policy: write a RateLimitPolicy")}))
			}
			return documents, errors.Join(problems...)
		case err != nil:
			// The parser cannot go on after it.
			return documents, errors.Join(append(problems, fileError(file, syntaxError(err)))...)
		case isEmpty(&node):
			continue
		}
		document, err := readPolicy(file, &node)
		if err != nil {
			problems = append(problems, err)
			continue
		}
		documents = append(documents, document)
	}
}

// readWhole reads a file, unless it is so long that it is another than was meant.
func readWhole(name string) ([]byte, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	text, err := io.ReadAll(io.LimitReader(file, maxPolicyFileBytes+1))
	if err == nil && len(text) > maxPolicyFileBytes {
		err = fmt.Errorf("it has more than %d bytes: it is no file of policies", maxPolicyFileBytes)
	}
	return text, err
}

func isEmpty(node *yaml.Node) bool {
	return node.Kind == yaml.DocumentNode && node.Content[0].ShortTag() == "!!null"
}

// parserMessage begins the messages of the YAML library's parser, whose lines
// count from 0, while those of its scanner count from 1.
var parserMessage = regexp.MustCompile(`^did not find expected (node content|key|'-' indicator|',' or|<)`)

var yamlLine = regexp.MustCompile(`^yaml: line ([0-9]+): (?s:(.*))$`)

// syntaxError takes the line out of an error of the YAML parser.
func syntaxError(err error) error {
	parts := yamlLine.FindStringSubmatch(err.Error())
	if parts == nil {
		return err
	}
	line, convErr := strconv.Atoi(parts[1])
	if convErr != nil {
		return err
	}
	if parserMessage.MatchString(parts[2]) {
		line++
	}
	return &lineError{line, "", fmt.Errorf("not YAML: %s", parts[2])}
}

// readPolicy reads a document strictly: a field that does not exist, or stands
// there twice, is an error.
func readPolicy(file string, node *yaml.Node) (*document, error) {
	converted, err := newJSONDocument(node)
	if err != nil {
		return nil, fileError(file, err)
	}
	d := &document{file: file, policy: &v1alpha1.RateLimitPolicy{}, lines: converted}
	if err := d.checkKind(); err != nil {
		return nil, err
	}
	text := converted.text.Bytes()
	strict, err := kjson.UnmarshalStrict(text, d.policy)
	if err != nil {
		return nil, d.typeError(text, err)
	}
	var problems []error
	for _, err := range strict {
		field, message := "", err.Error()
		if fieldErr, ok := errors.AsType[kjson.FieldError](err); ok {
			field = fieldErr.FieldPath()
			message = "there is no such field: correct its name or place, or remove it"
			if strings.HasPrefix(err.Error(), "duplicate") {
				message = "is there twice: remove one"
			}
		}
		problems = append(problems, d.problem(field, message))
	}
	return d, errors.Join(problems...)
}

func (d *document) checkKind() error {
	var head struct {
		APIVersion any `json:"apiVersion"`
		Kind       any `json:"kind"`
	}
	if err := json.Unmarshal(d.lines.text.Bytes(), &head); err != nil {
		return d.problem("", "a document must be an object with apiVersion, kind, metadata and spec")
	}
	if want := v1alpha1.SchemeGroupVersion.String(); head.APIVersion != want {
		return d.problem("apiVersion", fmt.Sprintf("is not %s: write that, and keep other objects in another file", want))
	}
	if head.Kind == kindClusterPolicy {
		return d.problem("kind", "is "+kindClusterPolicy+", which Penstock has but does not enforce yet: until it does, write a "+kindPolicy+" with these rules in each namespace")
	}
	if head.Kind != kindPolicy {
		return d.problem("kind", fmt.Sprintf("is not %s: write that, and keep other objects in another file", kindPolicy))
	}
	return nil
}

// typeError finds the field whose value is of the wrong type. The standard
// library's decoder tells where it was; that of Kubernetes does not.
func (d *document) typeError(text []byte, err error) error {
	wrong, ok := errors.AsType[*json.UnmarshalTypeError](json.Unmarshal(text, &v1alpha1.RateLimitPolicy{}))
	if !ok {
		return d.problem("", err.Error())
	}
	at := d.lines.placeBefore(int(wrong.Offset))
	message := fmt.Errorf("is %s, but must be %s", wordFor(wrong.Value), wordFor(wrong.Type.Kind().String()))
	if wrong.Type == reflect.TypeFor[v1alpha1.Duration]() {
		message = durationMissing(wordFor(wrong.Value), jsonNumber.FindString(string(text[at.offset:])))
	}
	return fileError(d.file, &lineError{at.line, at.path, message})
}

// jsonNumber is a number that a text begins with.
var jsonNumber = regexp.MustCompile(`^[0-9]+(\.[0-9]+)?`)

// durationMissing says what to write where a duration is wanted. The number is that
// which stands there, empty if another value does.
func durationMissing(kind, number string) error {
	if meant := compile.SuggestDuration(number); meant != "" {
		return fmt.Errorf("is the number %s without a unit, but must be a duration: write %s if that is meant, or another with h, m, s or ms", number, meant)
	}
	return fmt.Errorf("is %s, but must be a duration: write one such as 60s or 1m30s", kind)
}

// wordFor is a kind of Go or JSON in the words of YAML.
func wordFor(kind string) string {
	switch kind {
	case "string":
		return "a text"
	case "int32", "int64":
		return "a whole number"
	case "slice", "array":
		return "a list"
	case "struct", "map", "object":
		return "an object"
	case "bool":
		return "true or false"
	default:
		return "a " + kind
	}
}
