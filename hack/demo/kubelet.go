// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// kubelet stands in for the node: it runs pods as processes of this machine.
type kubelet struct {
	client    client.Client
	processes *processes
	bin       string
	scratch   string
	// holders keep the pods' addresses from other demos.
	holders []net.Listener
}

// replica is a pod that runs.
type replica struct {
	name    string
	address string
	// port is the number of the container port named http: where a Service that
	// targets that name sends requests.
	port int32
	// admin is the sidecar's metrics address, app the app's own.
	admin, app string
}

func newKubelet(c client.Client, p *processes, bin, scratch string) *kubelet {
	return &kubelet{client: c, processes: p, bin: bin, scratch: scratch}
}

// runPods runs all pods of a namespace and reports them ready.
func (k *kubelet) runPods(ctx context.Context, namespace string) ([]replica, error) {
	var pods corev1.PodList
	if err := k.client.List(ctx, &pods, client.InNamespace(namespace)); err != nil {
		return nil, fmt.Errorf("list the pods: %w", err)
	}
	var replicas []replica
	for i := range pods.Items {
		running, err := k.runPod(ctx, &pods.Items[i])
		if err != nil {
			return nil, fmt.Errorf("pod %s: %w", pods.Items[i].Name, err)
		}
		replicas = append(replicas, running)
	}
	return replicas, nil
}

// release gives the pods' addresses back.
func (k *kubelet) release() {
	for _, holder := range k.holders {
		holder.Close()
	}
}

func (k *kubelet) runPod(ctx context.Context, pod *corev1.Pod) (replica, error) {
	sidecar, err := nativeSidecar(pod)
	if err != nil {
		return replica{}, err
	}
	address, holder, err := holdAddress(pod.Spec.Containers[0].Ports[0].ContainerPort)
	if err != nil {
		return replica{}, err
	}
	k.holders = append(k.holders, holder)
	pod.Status.PodIP, pod.Status.PodIPs = address, []corev1.PodIP{{IP: address}}
	pod.Status.HostIP = "127.0.0.1"
	volumes, err := k.mount(ctx, pod)
	if err != nil {
		return replica{}, err
	}
	// As a kubelet does: the native sidecar first, the app once its startup
	// probe has passed, ready once the readiness probe has.
	if err := k.runContainer(pod, sidecar, "sidecar", volumes); err != nil {
		return replica{}, err
	}
	if err := k.waitFor(ctx, pod, sidecar, sidecar.StartupProbe); err != nil {
		return replica{}, err
	}
	if err := k.runContainer(pod, &pod.Spec.Containers[0], "demo/echo", volumes); err != nil {
		return replica{}, err
	}
	if err := k.waitFor(ctx, pod, sidecar, sidecar.ReadinessProbe); err != nil {
		return replica{}, err
	}
	if err := k.reportReady(ctx, pod); err != nil {
		return replica{}, err
	}
	return describe(pod, sidecar)
}

// nativeSidecar returns the container that the webhook put in.
func nativeSidecar(pod *corev1.Pod) (*corev1.Container, error) {
	for i := range pod.Spec.InitContainers {
		container := &pod.Spec.InitContainers[i]
		if container.RestartPolicy != nil && *container.RestartPolicy == corev1.ContainerRestartPolicyAlways {
			return container, nil
		}
	}
	return nil, fmt.Errorf("the webhook injected no sidecar; its annotations are %v", pod.Annotations)
}

// runContainer starts a container's program with exactly its arguments and
// environment; only the image and the mounts' paths become local ones.
func (k *kubelet) runContainer(pod *corev1.Pod, container *corev1.Container, program string, volumes map[string]string) error {
	environment, err := environmentOf(pod, container)
	if err != nil {
		return err
	}
	list := make([]string, 0, len(environment))
	for name, value := range environment {
		list = append(list, name+"="+value)
	}
	arguments := make([]string, 0, len(container.Args))
	for _, argument := range container.Args {
		for name, value := range environment {
			argument = strings.ReplaceAll(argument, "$("+name+")", value)
		}
		for _, mount := range container.VolumeMounts {
			argument = strings.ReplaceAll(argument, mount.MountPath, volumes[mount.Name])
		}
		arguments = append(arguments, argument)
	}
	return k.processes.start(pod.Name+"/"+container.Name, filepath.Join(k.bin, program), arguments, list)
}

func environmentOf(pod *corev1.Pod, container *corev1.Container) (map[string]string, error) {
	environment := map[string]string{"HOSTNAME": pod.Name}
	for _, variable := range container.Env {
		switch {
		case variable.ValueFrom == nil:
			environment[variable.Name] = variable.Value
		case variable.ValueFrom.FieldRef != nil:
			value, err := fieldOf(pod, variable.ValueFrom.FieldRef.FieldPath)
			if err != nil {
				return nil, err
			}
			environment[variable.Name] = value
		default:
			return nil, fmt.Errorf("container %s: environment variable %s has a source that the demo does not know", container.Name, variable.Name)
		}
	}
	return environment, nil
}

func (k *kubelet) reportReady(ctx context.Context, pod *corev1.Pod) error {
	now := metav1.NewTime(time.Now())
	pod.Status.Phase, pod.Status.StartTime = corev1.PodRunning, &now
	for _, kind := range []corev1.PodConditionType{corev1.PodInitialized, corev1.ContainersReady, corev1.PodReady} {
		pod.Status.Conditions = append(pod.Status.Conditions, corev1.PodCondition{Type: kind, Status: corev1.ConditionTrue, LastTransitionTime: now})
	}
	if err := k.client.Status().Update(ctx, pod); err != nil {
		return fmt.Errorf("report the pod ready: %w", err)
	}
	return nil
}

func describe(pod *corev1.Pod, sidecar *corev1.Container) (replica, error) {
	found := replica{name: pod.Name, address: pod.Status.PodIP}
	for _, port := range sidecar.Ports {
		if port.Name == "http" {
			found.port = port.ContainerPort
		}
	}
	if found.port == 0 {
		return replica{}, errors.New("the sidecar has no port named http, so a Service would not reach it")
	}
	probe := sidecar.ReadinessProbe.HTTPGet
	found.admin = fmt.Sprintf("%s:%d", found.address, probe.Port.IntValue())
	found.app = fmt.Sprintf("%s:%d", found.address, pod.Spec.Containers[0].Ports[0].ContainerPort)
	return found, nil
}

// waitFor polls a probe until it passes, or a container of the pod has ended.
func (k *kubelet) waitFor(ctx context.Context, pod *corev1.Pod, container *corev1.Container, probe *corev1.Probe) error {
	if probe == nil || probe.HTTPGet == nil {
		return fmt.Errorf("container %s: an HTTP probe was expected", container.Name)
	}
	url := fmt.Sprintf("http://%s:%d%s", pod.Status.PodIP, probe.HTTPGet.Port.IntValue(), probe.HTTPGet.Path)
	err := wait.PollUntilContextTimeout(ctx, 50*time.Millisecond, 30*time.Second, true, func(ctx context.Context) (bool, error) {
		if err := k.processes.firstEnded(pod.Name + "/"); err != nil {
			return false, err
		}
		return succeeds(ctx, url), nil
	})
	if err != nil {
		return fmt.Errorf("container %s: probe %s did not pass: %w", container.Name, url, err)
	}
	return nil
}

func writeFile(folder, name string, content []byte) error {
	return os.WriteFile(filepath.Join(folder, name), content, 0o600)
}
