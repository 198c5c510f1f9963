package packages

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	extv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	pkgv1 "github.com/crossplane/crossplane/apis/v2/pkg/v1"

	"github.com/ryuvia/provider-terdut/cluster/local/product"
)

// definition of the Tenant.
var definition = schema.GroupVersionKind{Group: "apiextensions.crossplane.io", Version: "v2", Kind: "CompositeResourceDefinition"}

// uninstall takes the product away under a Tenant whose data are to stay and one whose data are to go, in each order, and installs it again:
// what is to go is gone, what is to stay is used by a new Tenant once an administrator has handed it over, and nothing is left of the packages.
//
// Both flavours are taken away by the same commands; what Crossplane does by itself differs.
func uninstall(t *testing.T, flavour product.Flavour) {
	install(t, now)
	c := configs(t)
	c.restore(t)
	if flavour == product.FlavourClaims {
		shell(t, documented(t, inOrder))
		nothingLeft(t)
		if err := p.Offer(flavour); err != nil {
			t.Fatal(err)
		}
		install(t, now)
		c.restore(t)
	}
	withoutConfiguration := configurationFirst
	if flavour == product.FlavourClaims {
		withoutConfiguration = configurationOfClaimsFirst
	}
	for _, tc := range []struct {
		name, reason string
		// begin is what is done before the documented commands.
		begin func(t *testing.T, c configured, l *lodgers)
	}{
		{name: "documented", reason: "As the page says."},
		{
			name: "configuration", begin: withoutConfiguration,
			reason: "Without the Configuration its kinds wait for the Tenants that are there, and deleting these is the way out; claims Crossplane deletes.",
		},
		{
			name: "provider", begin: providerFirst,
			reason: "Crossplane installs the provider again, which cannot take over its kinds before their objects are let go of.",
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			l := lodge(t, tc.name+string(flavour)) // No dash: databases are called like it.
			if tc.begin == nil {
				strictly(t, documented(t, inOrder))
			} else {
				tc.begin(t, c, l)
				shell(t, documented(t, inOrder))
			}
			nothingLeft(t)
			l.gone(t)

			install(t, now)
			c.restore(t)
			l.takeOver(t, c)
			if t.Failed() {
				t.Log(tc.reason)
			}
		})
	}
}

// configurationFirst deletes the Configuration while there are Tenants.
func configurationFirst(t *testing.T, _ configured, l *lodgers) {
	o := &pkgv1.Configuration{ObjectMeta: metav1.ObjectMeta{Name: product.Configuration}}
	if err := p.Client.Delete(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the kind of the Tenants to wait for them", func(ctx context.Context) error {
		u := object(definition, "", "tenants.terdut.ryuvia.com")
		if err := p.Client.Get(ctx, client.ObjectKeyFromObject(u), u); err != nil {
			return err
		}
		if condition(u, "Established")["reason"] != "TerminatingCompositeResource" {
			return errNot
		}
		return nil
	})
	l.untouched(t)
}

// configurationOfClaimsFirst deletes the Configuration while there are Tenants that are claims: Crossplane deletes these as a user would.
func configurationOfClaimsFirst(t *testing.T, _ configured, l *lodgers) {
	o := &pkgv1.Configuration{ObjectMeta: metav1.ObjectMeta{Name: product.ConfigurationClaims}}
	if err := p.Client.Delete(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	eventually(t, "Crossplane to delete the Tenants and their kind", func(ctx context.Context) error {
		crd := &extv1.CustomResourceDefinition{}
		if err := p.Client.Get(ctx, client.ObjectKey{Name: "tenants.terdut.ryuvia.com"}, crd); !kerrors.IsNotFound(err) {
			return errors.Join(err, errNot)
		}
		return nil
	})
	stored(t, l.secret)
}

// providerFirst deletes the provider while there are Tenants and the Configuration.
func providerFirst(t *testing.T, c configured, l *lodgers) {
	o := &pkgv1.Provider{ObjectMeta: metav1.ObjectMeta{Name: product.Dependency(product.Provider)}}
	get(t, o)
	if err := p.Client.Delete(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	eventually(t, "Crossplane to install the provider again", func(ctx context.Context) error {
		again := &pkgv1.Provider{}
		if err := p.Client.Get(ctx, client.ObjectKeyFromObject(o), again); err != nil {
			return err
		}
		if again.UID == o.UID {
			return errNot
		}
		return nil
	})
	eventually(t, "the revision to be in its own way", func(ctx context.Context) error {
		revisions := &pkgv1.ProviderRevisionList{}
		if err := p.Client.List(ctx, revisions); err != nil {
			return err
		}
		for i := range revisions.Items {
			if c := revisions.Items[i].GetCondition(pkgv1.TypeRevisionHealthy); strings.Contains(c.Message, "is already controlled by") {
				return nil
			}
		}
		return errNot
	})
	shell(t, documented(t, providerGone))
	install(t, now)
	c.restore(t)
	l.restored(t)
	l.untouched(t)
}

// nothingLeft waits until there is nothing of the packages any more.
func nothingLeft(t *testing.T) {
	t.Helper()
	eventually(t, "the packages to leave nothing", func(ctx context.Context) error {
		var left []string
		for _, l := range []client.ObjectList{
			&pkgv1.ConfigurationList{}, &pkgv1.ConfigurationRevisionList{}, &pkgv1.FunctionList{}, &pkgv1.FunctionRevisionList{},
			&pkgv1.ProviderList{}, &pkgv1.ProviderRevisionList{}, &extv1.CustomResourceDefinitionList{},
		} {
			if err := p.Client.List(ctx, l); err != nil {
				return err
			}
			err := meta.EachListItem(l, func(o runtime.Object) error {
				name := o.(client.Object).GetName() //nolint:forcetypeassert // Everything in such a list is one.
				if _, crd := o.(*extv1.CustomResourceDefinition); !crd || strings.HasSuffix(name, "terdut.ryuvia.com") {
					left = append(left, fmt.Sprintf("%T %s", o, name))
				}
				return nil
			})
			if err != nil {
				return err
			}
		}
		if len(left) > 0 {
			return fmt.Errorf("there are %v", left)
		}
		if r := p.Runtime.Instances(); len(r) > 0 {
			return fmt.Errorf("programs run: %v", r)
		}
		return nil
	})
}
