package narrow

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/ryuvia/provider-terdut/cluster/local"
	"github.com/ryuvia/provider-terdut/cluster/local/toolchain"
)

var root = filepath.Join("..", "..")

// errNot is what is not yet.
var errNot = errors.New("it is not")

func eventually(t *testing.T, what string, check func(context.Context) error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if err := p.WaitFor(ctx, what, check); err != nil {
		t.Fatal(err)
	}
}

func apply(t *testing.T, format string, args ...any) {
	t.Helper()
	if err := p.Apply(t.Context(), fmt.Appendf(nil, format, args...)); err != nil {
		t.Fatalf("cannot apply: %v", err)
	}
}

func object(gvk schema.GroupVersionKind, ns, name string) *unstructured.Unstructured {
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(gvk)
	u.SetNamespace(ns)
	u.SetName(name)
	return u
}

// condition of an object, empty when it has none of the type.
func condition(u *unstructured.Unstructured, kind string) map[string]any {
	list, _, _ := unstructured.NestedSlice(u.Object, "status", "conditions")
	for _, c := range list {
		if m, ok := c.(map[string]any); ok && m["type"] == kind {
			return m
		}
	}
	return map[string]any{}
}

// followPage runs the commands of the page, as it says.
func followPage(t *testing.T) {
	t.Helper()
	page, err := os.ReadFile(filepath.Join(root, "docs", "security.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(page), "\n### Some namespaces only\n")
	section, _, _ = strings.Cut(section, "\n##")
	commands := "set -euo pipefail\n"
	for l := range strings.Lines(section) {
		for _, prompt := range []string{"$ ", "> "} {
			if c, ok := strings.CutPrefix(l, prompt); ok {
				commands += c
			}
		}
	}
	kubectl, err := toolchain.Binary(t.Context(), toolchain.Kubectl)
	if err != nil {
		t.Fatal(err)
	}
	bin := t.TempDir()
	if err := os.Symlink(kubectl, filepath.Join(bin, "kubectl")); err != nil {
		t.Fatal(err)
	}
	c := exec.CommandContext(t.Context(), "timeout", fmt.Sprint(patience.Seconds()), "bash", "-c", commands)
	c.Dir, c.Env = root, append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"), "KUBECONFIG="+p.Plane.Kubeconfig)
	if said, err := c.CombinedOutput(); err != nil || !bytes.Contains(said, []byte("provider-terdut-narrow")) {
		t.Fatalf("the commands do not work: %v\n%s\nthey said:\n%s", err, commands, said)
	}
}

// names who a binding binds to what, where the provider is among them, alone or with others of its groups. What Kubernetes binds to everybody
// who is logged in is left out.
func names(kind, ns, name string, ref rbacv1.RoleRef, subjects []rbacv1.Subject) []string {
	ours := slices.ContainsFunc(subjects, func(s rbacv1.Subject) bool {
		switch s.Kind {
		case rbacv1.ServiceAccountKind:
			return s.Name == account && (s.Namespace == local.SystemNamespace || s.Namespace == "" && ns == local.SystemNamespace)
		case rbacv1.GroupKind:
			return slices.Contains([]string{"system:authenticated", "system:serviceaccounts", "system:serviceaccounts:" + local.SystemNamespace}, s.Name)
		}
		return s.Name == user
	})
	if !ours {
		return nil
	}
	return []string{fmt.Sprintf("%s %s to %s %s", kind, path.Join(ns, name), ref.Kind, ref.Name)}
}

// bound is what binds the provider on the plane.
func bound(ctx context.Context, t *testing.T) []string {
	t.Helper()
	cluster, namespaced := &rbacv1.ClusterRoleBindingList{}, &rbacv1.RoleBindingList{}
	if err := errors.Join(p.Client.List(ctx, cluster), p.Client.List(ctx, namespaced)); err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, b := range cluster.Items {
		if b.Labels["kubernetes.io/bootstrapping"] != "rbac-defaults" {
			out = append(out, names("ClusterRoleBinding", "", b.Name, b.RoleRef, b.Subjects)...)
		}
	}
	for _, b := range namespaced.Items {
		if b.Labels["kubernetes.io/bootstrapping"] != "rbac-defaults" {
			out = append(out, names("RoleBinding", b.Namespace, b.Name, b.RoleRef, b.Subjects)...)
		}
	}
	return out
}

// documents of a manifest of the install folder that are of a kind.
func documents[T any](t *testing.T, kind string, files ...string) []T {
	t.Helper()
	var out []T
	for _, f := range files {
		raw, err := os.ReadFile(filepath.Join(root, "package", "install", f))
		if err != nil {
			t.Fatal(err)
		}
		for d := range strings.SplitSeq(string(raw), "\n---\n") {
			m := metav1.TypeMeta{}
			if err := yaml.Unmarshal([]byte(d), &m); err != nil {
				t.Fatal(err)
			}
			if m.Kind != kind {
				continue
			}
			var o T
			if err := yaml.UnmarshalStrict([]byte(d), &o); err != nil {
				t.Fatal(err)
			}
			out = append(out, o)
		}
	}
	return out
}

// boundInManifests is what binds the provider by the manifests, but for the binding of provider.yaml that the page takes away.
func boundInManifests(t *testing.T) []string {
	t.Helper()
	var out []string
	for _, b := range documents[rbacv1.ClusterRoleBinding](t, "ClusterRoleBinding", "provider-namespaces.yaml") {
		out = append(out, names("ClusterRoleBinding", "", b.Name, b.RoleRef, b.Subjects)...)
	}
	for _, b := range documents[rbacv1.RoleBinding](t, "RoleBinding", "provider.yaml", "provider-namespaces.yaml") {
		out = append(out, names("RoleBinding", b.Namespace, b.Name, b.RoleRef, b.Subjects)...)
	}
	for _, b := range documents[rbacv1.RoleBinding](t, "RoleBinding", "provider-namespace.yaml") {
		for _, ns := range []string{local.SystemNamespace, "shop", "billing"} {
			out = append(out, names("RoleBinding", ns, b.Name, b.RoleRef, b.Subjects)...)
		}
	}
	return out
}

func same(t *testing.T, want, got []string) {
	t.Helper()
	slices.Sort(want)
	slices.Sort(got)
	if d := cmp.Diff(want, got); d != "" || len(want) == 0 {
		t.Errorf("bound to the provider: -of the manifests, +on the plane:\n%s", d)
	}
}

// rolesAsInManifests fails unless the roles of the plane have the rules of the manifests.
func rolesAsInManifests(t *testing.T) {
	t.Helper()
	for _, r := range documents[rbacv1.ClusterRole](t, "ClusterRole", "provider.yaml", "provider-namespaces.yaml") {
		got := &rbacv1.ClusterRole{}
		if err := p.Client.Get(t.Context(), client.ObjectKeyFromObject(&r), got); err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(r.Rules, got.Rules); d != "" {
			t.Errorf("ClusterRole %s: -manifest, +plane:\n%s", r.Name, d)
		}
	}
	for _, r := range documents[rbacv1.Role](t, "Role", "provider.yaml", "provider-namespaces.yaml") {
		got := &rbacv1.Role{}
		if err := p.Client.Get(t.Context(), client.ObjectKeyFromObject(&r), got); err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(r.Rules, got.Rules); d != "" {
			t.Errorf("Role %s/%s: -manifest, +plane:\n%s", r.Namespace, r.Name, d)
		}
	}
}
