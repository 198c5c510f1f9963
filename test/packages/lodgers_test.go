package packages

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	commonv1alpha1 "github.com/ryuvia/provider-terdut/apis/common/v1alpha1"
	accessv1alpha1 "github.com/ryuvia/provider-terdut/apis/openbao/access/v1alpha1"
	openbaov1alpha1 "github.com/ryuvia/provider-terdut/apis/openbao/v1alpha1"
	postgresqlv1alpha1 "github.com/ryuvia/provider-terdut/apis/postgresql/v1alpha1"
	"github.com/ryuvia/provider-terdut/cluster/local"
	"github.com/ryuvia/provider-terdut/cluster/local/openbao"
)

// configured is what an administrator says in the provider configs, which go with their kinds.
type configured struct {
	pg  postgresqlv1alpha1.ClusterProviderConfigSpec
	bao openbaov1alpha1.ClusterProviderConfigSpec
}

// configs as they are now.
func configs(t *testing.T) configured {
	t.Helper()
	pg, bao := configObjects()
	get(t, pg)
	get(t, bao)
	// The packages with which the plane began knew nothing of it.
	bao.Spec.Access = &openbaov1alpha1.Access{
		Default: openbaov1alpha1.AccessShared, Kubernetes: openbaov1alpha1.KubernetesRoles{AuthPath: local.KubernetesAuth},
	}
	return configured{pg: pg.Spec, bao: bao.Spec}
}

func configObjects() (*postgresqlv1alpha1.ClusterProviderConfig, *openbaov1alpha1.ClusterProviderConfig) {
	name := metav1.ObjectMeta{Name: "default"}
	return &postgresqlv1alpha1.ClusterProviderConfig{ObjectMeta: name}, &openbaov1alpha1.ClusterProviderConfig{ObjectMeta: name}
}

// restore the provider configs, or bring them to what they were, as applying their manifests does.
func (c configured) restore(t *testing.T) {
	t.Helper()
	c.write(t, nil, nil)
}

// write the provider configs with consents.
func (c configured) write(t *testing.T, databases []postgresqlv1alpha1.Adoption, records []openbaov1alpha1.Adoption) {
	t.Helper()
	eventually(t, "provider configs to be healthy", func(ctx context.Context) error {
		pg, bao := configObjects()
		for _, o := range []client.Object{pg, bao} {
			err := p.Client.Get(ctx, client.ObjectKeyFromObject(o), o)
			if client.IgnoreNotFound(err) != nil {
				return err
			}
			if o.GetDeletionTimestamp() != nil {
				return fmt.Errorf("%T is being deleted", o)
			}
			pg.Spec, bao.Spec = c.pg, c.bao
			pg.Spec.Adoptions, bao.Spec.Adoptions = databases, records
			if err == nil {
				err = p.Client.Update(ctx, o)
			} else {
				err = p.Client.Create(ctx, o)
			}
			if err != nil {
				return err
			}
		}
		for _, c := range []xpv2.Condition{pg.GetCondition(postgresqlv1alpha1.TypeHealthy), bao.GetCondition(openbaov1alpha1.TypeHealthy)} {
			if c.Status != corev1.ConditionTrue {
				return fmt.Errorf("one is not Healthy: %s %s", c.Reason, c.Message)
			}
		}
		return nil
	})
}

// lodgers are a Tenant whose data are to stay when it goes, and one whose data are to go with it.
type lodgers struct {
	ns          string
	stay, leave *unstructured.Unstructured
	// secret of the Tenant whose data stay.
	secret map[string][]byte
	// access are the paths in OpenBao of what the record is read with of the Tenant whose data go.
	access []string
	// had is what there was outside when both were Ready.
	had map[string]facts
	// uid of the Tenant whose data stay, and is recorded as their owner.
	uid types.UID
}

// lodge both in a namespace. Databases are called like namespace and Tenant.
func lodge(t *testing.T, ns string) *lodgers {
	t.Helper()
	namespace(t, ns)
	l := &lodgers{ns: ns, stay: tenant(ns, "stay"), leave: tenant(ns, "leave"), had: map[string]facts{}}
	applyTenant(t, ns, "stay", "Retain")
	apply(t, "apiVersion: terdut.ryuvia.com/v1alpha1\nkind: Tenant\nmetadata: {namespace: %s, name: leave}\nspec: {deletionPolicy: Delete, access: {kubernetes: {}}}", ns)
	apply(t, shelf, ns)
	isReady(t, l.stay, l.leave)
	l.access = accessOf(t, ns)
	if there := l.accessLeft(t); len(there) != 2 {
		t.Fatalf("of policy and role of Tenant leave there are %v", there)
	}
	l.secret, l.uid = secretData(t, ns, "stay-db"), l.stay.GetUID()
	store(t, l.secret)
	for _, u := range []*unstructured.Unstructured{l.stay, l.leave} {
		l.had[u.GetName()] = l.outside(t, u)
		if len(l.had[u.GetName()]) != 5 {
			t.Fatalf("Tenant %s has not all that it should: %v", u.GetName(), l.had[u.GetName()])
		}
	}
	return l
}

// shelf is a policy that no Tenant asked for.
const shelf = `
apiVersion: access.openbao.terdut.ryuvia.com/v1alpha1
kind: Policy
metadata: {namespace: %s, name: shelf}
spec:
  forProvider: {policy: 'path "kv/data/shelf" { capabilities = ["read"] }'}
  providerConfigRef: {kind: ClusterProviderConfig, name: default}
`

// accessOf are the paths of policies and roles that Tenants of a namespace are composed of.
func accessOf(t *testing.T, ns string) []string {
	t.Helper()
	policies, roles := &accessv1alpha1.PolicyList{}, &accessv1alpha1.KubernetesAuthRoleList{}
	if err := errors.Join(p.Client.List(t.Context(), policies, client.InNamespace(ns)), p.Client.List(t.Context(), roles, client.InNamespace(ns))); err != nil {
		t.Fatal(err)
	}
	var paths []string
	for i := range policies.Items {
		if metav1.GetControllerOf(&policies.Items[i]) != nil {
			paths = append(paths, "sys/policies/acl/"+meta.GetExternalName(&policies.Items[i]))
		}
	}
	for i := range roles.Items {
		paths = append(paths, "auth/"+local.KubernetesAuth+"/role/"+meta.GetExternalName(&roles.Items[i]))
	}
	return paths
}

// accessLeft are those paths at which there is something.
func (l *lodgers) accessLeft(t *testing.T) []string {
	t.Helper()
	var left []string
	for _, path := range l.access {
		s, err := p.Plane.OpenBao.Root().Logical().ReadWithContext(t.Context(), path)
		if err != nil {
			t.Fatalf("cannot read %s: %v", path, err)
		}
		if s != nil {
			left = append(left, path)
		}
	}
	return left
}

func (l *lodgers) outside(t *testing.T, u *unstructured.Unstructured) facts {
	t.Helper()
	return outside(t, l.ns+"_"+u.GetName(), "tenants/"+l.ns+"/"+u.GetName())
}

// untouched fails unless everything is there, the Tenants too.
func (l *lodgers) untouched(t *testing.T) {
	t.Helper()
	for _, u := range []*unstructured.Unstructured{l.stay, l.leave} {
		same(t, "data of Tenant "+u.GetName(), l.had[u.GetName()], l.outside(t, u))
	}
	get(t, l.stay)
	if l.stay.GetUID() != l.uid {
		t.Error("the Tenant was made anew")
	}
	stored(t, l.secret)
}

// restored waits until both have all their objects again. Until they are composed anew, the Tenants show what they showed before.
func (l *lodgers) restored(t *testing.T) {
	t.Helper()
	for _, gvk := range []schema.GroupVersionKind{postgresqlv1alpha1.PGDatabaseGroupVersionKind, openbaov1alpha1.BaoSecretGroupVersionKind} {
		eventually(t, gvk.Kind+" of each Tenant to be Ready", func(ctx context.Context) error {
			is := &unstructured.UnstructuredList{}
			is.SetGroupVersionKind(gvk)
			if err := p.Client.List(ctx, is, client.InNamespace(l.ns)); err != nil {
				return err
			}
			if len(is.Items) != 2 {
				return fmt.Errorf("there are %d", len(is.Items))
			}
			return errors.Join(ready(ctx, &is.Items[0]), ready(ctx, &is.Items[1]))
		})
	}
	isReady(t, l.stay, l.leave)
}

// gone fails unless what was to go has gone, and what was to stay is as it was.
func (l *lodgers) gone(t *testing.T) {
	t.Helper()
	if left := l.outside(t, l.leave); len(left) > 0 {
		t.Errorf("what was to be deleted is there: %v", left)
	}
	if left := l.accessLeft(t); len(left) > 0 {
		t.Errorf("what a record was read with that is deleted is there: %v", left)
	}
	same(t, "what was to stay", l.had["stay"], l.outside(t, l.stay))
	stored(t, l.secret)
}

// takeOver makes the Tenant anew: it gets what was retained once an administrator has handed that over, and not before.
func (l *lodgers) takeOver(t *testing.T, c configured) {
	t.Helper()
	applyTenant(t, l.ns, "stay", "Retain")
	l.stay = tenant(l.ns, "stay")
	eventually(t, "the new Tenant to be told whose the data are", func(ctx context.Context) error {
		if err := p.Client.Get(ctx, client.ObjectKeyFromObject(l.stay), l.stay); err != nil {
			return err
		}
		if c := condition(l.stay, "DatabaseReady"); c["reason"] != "Conflict" || !strings.Contains(fmt.Sprint(c["message"]), string(l.uid)) {
			return fmt.Errorf("it says %v", c)
		}
		return nil
	})
	to := commonv1alpha1.AdoptionTarget{From: string(l.uid), To: l.ns + "/stay"}
	c.write(t,
		[]postgresqlv1alpha1.Adoption{{Database: l.ns + "_stay", AdoptionTarget: to}},
		[]openbaov1alpha1.Adoption{{Path: openbao.Mount + "/tenants/" + l.ns + "/stay", AdoptionTarget: to}})
	isReady(t, l.stay)
	same(t, "what was taken over", l.had["stay"], l.outside(t, l.stay))
	if !maps.EqualFunc(l.secret, secretData(t, l.ns, "stay-db"), func(a, b []byte) bool { return string(a) == string(b) }) {
		t.Error("the new Secret does not say what the old one said")
	}
	stored(t, l.secret)
	c.restore(t)
}
