// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// mount writes a pod's projected volumes to local folders and returns the folder
// of each volume by name.
func (k *kubelet) mount(ctx context.Context, pod *corev1.Pod) (map[string]string, error) {
	folders := map[string]string{}
	for _, volume := range pod.Spec.Volumes {
		folder := filepath.Join(k.scratch, pod.Name, volume.Name)
		if err := os.MkdirAll(folder, 0o700); err != nil {
			return nil, err
		}
		folders[volume.Name] = folder
		if volume.Projected == nil {
			return nil, fmt.Errorf("volume %s is of a kind that the demo does not know", volume.Name)
		}
		for _, source := range volume.Projected.Sources {
			if err := k.project(ctx, pod, source, folder); err != nil {
				return nil, fmt.Errorf("volume %s: %w", volume.Name, err)
			}
		}
	}
	return folders, nil
}

func (k *kubelet) project(ctx context.Context, pod *corev1.Pod, source corev1.VolumeProjection, folder string) error {
	switch {
	case source.Secret != nil:
		return k.projectSecret(ctx, pod.Namespace, source.Secret, folder)
	case source.DownwardAPI != nil:
		for _, item := range source.DownwardAPI.Items {
			value, err := fieldOf(pod, item.FieldRef.FieldPath)
			if err != nil {
				return err
			}
			if err := writeFile(folder, item.Path, []byte(value)); err != nil {
				return err
			}
		}
		return nil
	default:
		return errors.New("a source that the demo does not know")
	}
}

func (k *kubelet) projectSecret(ctx context.Context, namespace string, source *corev1.SecretProjection, folder string) error {
	var secret corev1.Secret
	err := k.client.Get(ctx, client.ObjectKey{Namespace: namespace, Name: source.Name}, &secret)
	if apierrors.IsNotFound(err) && source.Optional != nil && *source.Optional {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read Secret %s: %w", source.Name, err)
	}
	for name, content := range secret.Data {
		if err := writeFile(folder, name, content); err != nil {
			return err
		}
	}
	return nil
}

// fieldOf gives a field of a pod as the downward API does.
func fieldOf(pod *corev1.Pod, path string) (string, error) {
	switch path {
	case "metadata.name":
		return pod.Name, nil
	case "metadata.namespace":
		return pod.Namespace, nil
	case "metadata.uid":
		return string(pod.UID), nil
	case "metadata.labels":
		var lines []string
		for _, name := range slices.Sorted(maps.Keys(pod.Labels)) {
			lines = append(lines, fmt.Sprintf("%s=%q", name, pod.Labels[name]))
		}
		return strings.Join(lines, "\n"), nil
	case "status.podIP", "status.podIPs":
		return pod.Status.PodIP, nil
	default:
		return "", fmt.Errorf("field %s is one that the demo does not know", path)
	}
}
