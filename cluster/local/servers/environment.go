package servers

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// A missingError says which key of a Secret or ConfigMap is not there.
type missingError struct{ kind, name, key string }

func (e *missingError) Error() string {
	return fmt.Sprintf("%s %q has no key %q", e.kind, e.name, e.key)
}

func isMissing(err error) bool {
	_, ok := errors.AsType[*missingError](err)
	return ok
}

// environment of the server of a Pod. Files of Secrets are below the Pod's folder, and variables that name one say so.
func (s *Servers) environment(ctx context.Context, o *corev1.Pod, p *pod) ([]string, error) {
	if len(o.Spec.Containers) != 1 {
		return nil, fmt.Errorf("cannot run Pod %q: it has %d containers", o.Name, len(o.Spec.Containers))
	}
	c := o.Spec.Containers[0]
	mounts, err := s.volumes(ctx, o, p)
	if err != nil {
		return nil, err
	}
	var env []string
	for _, e := range c.Env {
		v, err := s.value(ctx, o.Namespace, e)
		if err != nil {
			return nil, err
		}
		for path, dir := range mounts {
			if rest, ok := strings.CutPrefix(v, path+"/"); ok {
				v = filepath.Join(dir, rest)
			}
		}
		env = append(env, e.Name+"="+v)
	}
	// The last of two variables of a name counts. Every server has the same port in a network of its own, which there is none of here.
	return append(env, "TERDUT_LISTEN_ADDR="+p.address, "TERDUT_CONTROL_ADDR="+p.control), nil
}

// value of a variable.
func (s *Servers) value(ctx context.Context, namespace string, e corev1.EnvVar) (string, error) {
	switch {
	case e.ValueFrom == nil:
		return e.Value, nil
	case e.ValueFrom.SecretKeyRef != nil:
		r := e.ValueFrom.SecretKeyRef
		secret := &corev1.Secret{}
		if err := s.client.Get(ctx, types.NamespacedName{Namespace: namespace, Name: r.Name}, secret); err != nil {
			return "", err
		}
		if v, ok := secret.Data[r.Key]; ok {
			return string(v), nil
		}
		return "", &missingError{kind: "Secret", name: r.Name, key: r.Key}
	case e.ValueFrom.ConfigMapKeyRef != nil:
		r := e.ValueFrom.ConfigMapKeyRef
		cm := &corev1.ConfigMap{}
		if err := s.client.Get(ctx, types.NamespacedName{Namespace: namespace, Name: r.Name}, cm); err != nil {
			return "", err
		}
		if v, ok := cm.Data[r.Key]; ok {
			return v, nil
		}
		return "", &missingError{kind: "ConfigMap", name: r.Name, key: r.Key}
	}
	return "", fmt.Errorf("cannot resolve variable %q: its source is not known here", e.Name)
}

// volumes writes the files of Secrets that a Pod mounts, and returns the folders by mount path.
func (s *Servers) volumes(ctx context.Context, o *corev1.Pod, p *pod) (map[string]string, error) {
	if err := os.MkdirAll(p.dir, 0o700); err != nil {
		return nil, fmt.Errorf("cannot create folder of Pod: %w", err)
	}
	mounts := map[string]string{}
	for _, v := range o.Spec.Volumes {
		if v.Secret == nil {
			continue
		}
		dir := filepath.Join(p.dir, v.Name)
		if err := s.write(ctx, client.ObjectKey{Namespace: o.Namespace, Name: v.Secret.SecretName}, v.Secret.Items, dir); err != nil {
			return nil, err
		}
		for _, m := range o.Spec.Containers[0].VolumeMounts {
			if m.Name == v.Name {
				mounts[strings.TrimRight(m.MountPath, "/")] = dir
			}
		}
	}
	return mounts, nil
}

// write keys of a Secret as files.
func (s *Servers) write(ctx context.Context, n client.ObjectKey, items []corev1.KeyToPath, dir string) error {
	secret := &corev1.Secret{}
	if err := s.client.Get(ctx, n, secret); err != nil {
		return err
	}
	if len(items) == 0 {
		for k := range secret.Data {
			items = append(items, corev1.KeyToPath{Key: k, Path: k})
		}
	}
	for _, i := range items {
		data, ok := secret.Data[i.Key]
		if !ok {
			return &missingError{kind: "Secret", name: n.Name, key: i.Key}
		}
		path := filepath.Join(dir, i.Path)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return fmt.Errorf("cannot create folder of Secret %q: %w", n.Name, err)
		}
		if err := os.WriteFile(path, data, 0o600); err != nil {
			return fmt.Errorf("cannot write key %q of Secret %q: %w", i.Key, n.Name, err)
		}
	}
	return nil
}
