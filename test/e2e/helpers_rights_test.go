package e2e

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"
)

// Where rights hold, as docs/security.md says it.
const everywhere, theirs = "everywhere", "their namespace"

// A right is one thing that somebody may do, or, from a table, some things of a kind: * stands for all.
type right struct{ where, group, resource, name, verb string }

func (r right) String() string {
	return fmt.Sprintf("%s %s of %s, group %q, %s", r.verb, r.resource, r.name, r.group, r.where)
}

// covers says whether a right of a table includes one that is bound.
func (r right) covers(bound right) bool {
	within := func(table, bound string) bool { return table == bound || table == "*" }
	return r.where == bound.where && r.group == bound.group && r.name == bound.name && within(r.verb, bound.verb) &&
		(within(r.resource, bound.resource) || r.resource == "*/finalizers" && strings.HasSuffix(bound.resource, "/finalizers"))
}

// bound are the rights that somebody has through the bindings that there are, in whatever group of people he is. What Kubernetes itself
// binds to everybody who is logged in is left out, and so are the roles that an exception names.
func bound(t *testing.T, who rbacv1.Subject, except ...string) []right {
	t.Helper()
	ours := func(subjects []rbacv1.Subject, own string, role *rbacv1.ClusterRole) bool {
		for _, s := range subjects {
			switch {
			case s.Kind == who.Kind && s.Name == who.Name && (s.Kind != rbacv1.ServiceAccountKind || first(s.Namespace, own) == who.Namespace):
				return !slices.Contains(except, role.Name)
			case s.Kind == rbacv1.GroupKind && slices.Contains(groupsOf(who), s.Name):
				return role.Labels["kubernetes.io/bootstrapping"] != "rbac-defaults"
			}
		}
		return false
	}
	out := []right{}
	cluster, namespaced := &rbacv1.ClusterRoleBindingList{}, &rbacv1.RoleBindingList{}
	for _, l := range []client.ObjectList{cluster, namespaced} {
		if err := p.Client.List(t.Context(), l); err != nil {
			t.Fatal(err)
		}
	}
	for _, b := range cluster.Items {
		if role := roleOf(t, b.RoleRef, ""); ours(b.Subjects, "", role) {
			out = append(out, rightsOf(everywhere, role.Rules)...)
		}
	}
	for _, b := range namespaced.Items {
		if role := roleOf(t, b.RoleRef, b.Namespace); ours(b.Subjects, b.Namespace, role) {
			out = append(out, rightsOf(b.Namespace, role.Rules)...)
		}
	}
	return out
}

func first(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// groupsOf people that a subject is in without anybody saying so.
func groupsOf(who rbacv1.Subject) []string {
	groups := []string{"system:authenticated"}
	if who.Kind == rbacv1.ServiceAccountKind {
		groups = append(groups, "system:serviceaccounts", "system:serviceaccounts:"+who.Namespace)
	}
	return groups
}

// roleOf a binding. One that does not exist gives nothing.
func roleOf(t *testing.T, ref rbacv1.RoleRef, ns string) *rbacv1.ClusterRole {
	t.Helper()
	out := &rbacv1.ClusterRole{}
	if ref.Kind == "ClusterRole" {
		if err := p.Client.Get(t.Context(), types.NamespacedName{Name: ref.Name}, out); client.IgnoreNotFound(err) != nil {
			t.Fatal(err)
		}
		return out
	}
	role := &rbacv1.Role{}
	if err := p.Client.Get(t.Context(), types.NamespacedName{Namespace: ns, Name: ref.Name}, role); client.IgnoreNotFound(err) != nil {
		t.Fatal(err)
	}
	out.ObjectMeta, out.Rules = role.ObjectMeta, role.Rules
	return out
}

// rightsOf rules, one by one.
func rightsOf(where string, rules []rbacv1.PolicyRule) []right {
	out := []right{}
	for _, r := range rules {
		names := r.ResourceNames
		if len(names) == 0 {
			names = []string{"*"}
		}
		for _, verb := range r.Verbs {
			for _, url := range r.NonResourceURLs {
				out = append(out, right{where: where, resource: url, verb: verb})
			}
			for _, group := range r.APIGroups {
				for _, resource := range r.Resources {
					for _, name := range names {
						out = append(out, right{where, group, resource, name, verb})
					}
				}
			}
		}
	}
	return out
}

// aggregated are the rights of the roles that Crossplane's role is put together from, but for what its chart gives it.
func aggregated(t *testing.T) []right {
	t.Helper()
	l := &rbacv1.ClusterRoleList{}
	if err := p.Client.List(t.Context(), l, client.MatchingLabels{"rbac.crossplane.io/aggregate-to-crossplane": "true"}); err != nil {
		t.Fatal(err)
	}
	out := []right{}
	for _, r := range l.Items {
		if r.Name != "crossplane:system:aggregate-to-crossplane" {
			out = append(out, rightsOf(everywhere, r.Rules)...)
		}
	}
	return out
}

// quoted is a value in a table.
var quoted = regexp.MustCompile("`([^`]+)`")

// documentedRights are the rights of a section of the security page, by the rows of its table.
func documentedRights(t *testing.T, section string) []right {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("..", "..", "docs", "security.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, text, ok := strings.Cut(string(b), "\n### "+section+"\n")
	if !ok {
		t.Fatalf("the page has no section %q", section)
	}
	text, _, _ = strings.Cut(text, "\n#")
	out := []right{}
	for l := range strings.Lines(text) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(l), "|"), " | ")
		if !strings.HasPrefix(l, "| ") || len(cells) != 5 || strings.TrimSpace(cells[0]) == "where" || strings.HasPrefix(l, "| ---") {
			continue
		}
		where := strings.Trim(strings.TrimSpace(cells[0]), "`")
		resources, name, one := strings.Cut(cells[2], " of ")
		if !one {
			name = "*"
		}
		for _, group := range quoted.FindAllStringSubmatch(cells[1], -1) {
			for _, resource := range quoted.FindAllStringSubmatch(resources, -1) {
				for _, verb := range quoted.FindAllStringSubmatch(cells[3], -1) {
					g := group[1]
					if g == "core" {
						g = ""
					}
					out = append(out, right{where, g, resource[1], strings.Trim(name, "` "), verb[1]})
				}
			}
		}
	}
	if len(out) == 0 {
		t.Fatalf("section %q has no table of rights", section)
	}
	return out
}

// sameRights fails for each right that is bound and in no table, and for each that is in a table and not bound.
func sameRights(t *testing.T, who string, table, bound []right) {
	t.Helper()
	if len(bound) == 0 {
		t.Errorf("%s may do nothing", who)
	}
	for _, b := range bound {
		if !slices.ContainsFunc(table, func(r right) bool { return r.covers(b) }) {
			t.Errorf("%s may do what the page does not say: %s", who, b)
		}
	}
	for _, r := range table {
		if !slices.ContainsFunc(bound, r.covers) {
			t.Errorf("the page gives %s what is not bound: %s", who, r)
		}
	}
}

// applyRole applies a ClusterRole as the install page has it, and binds it to somebody in a namespace.
func applyRole(t *testing.T, name, ns string, who rbacv1.Subject) {
	t.Helper()
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "install.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, block := range strings.Split(string(page), "```") {
		text, isYAML := strings.CutPrefix(block, "yaml\n")
		role := &rbacv1.ClusterRole{}
		if !isYAML || yaml.Unmarshal([]byte(text), role) != nil || role.Kind != "ClusterRole" || role.Name != name {
			continue
		}
		if err := p.Apply(t.Context(), []byte(text)); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := client.IgnoreNotFound(p.Client.Delete(context.Background(), role)); err != nil {
				t.Error(err)
			}
		})
		b := &rbacv1.RoleBinding{}
		b.Namespace, b.Name = ns, name
		b.RoleRef = rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: name}
		b.Subjects = []rbacv1.Subject{who}
		create(t, b)
		return
	}
	t.Fatalf("the install page has no ClusterRole %s", name)
}
