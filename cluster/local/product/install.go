package product

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	extv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	pkgv1 "github.com/crossplane/crossplane/apis/v2/pkg/v1"

	openbaov1alpha1 "github.com/ryuvia/provider-terdut/apis/openbao/v1alpha1"
	postgresqlv1alpha1 "github.com/ryuvia/provider-terdut/apis/postgresql/v1alpha1"
)

const (
	// installTimeout bounds how long the package manager may take.
	installTimeout = 3 * time.Minute
	pollInterval   = 100 * time.Millisecond
)

// install a Configuration, which pulls the provider and the functions, and wait until all that they bring is there.
func (p *Product) install(ctx context.Context, name, ref string) error {
	ctx, cancel := context.WithTimeout(ctx, installTimeout)
	defer cancel()

	if err := p.Client.Create(ctx, p.registry.Rewrite()); err != nil {
		return fmt.Errorf("cannot create ImageConfig: %w", err)
	}
	c := &pkgv1.Configuration{ObjectMeta: metav1.ObjectMeta{Name: name}}
	c.Spec.Package = ref
	if err := p.Client.Create(ctx, c); err != nil {
		return fmt.Errorf("cannot create Configuration: %w", err)
	}

	if err := p.WaitFor(ctx, "packages to be installed and healthy", p.packagesHealthy); err != nil {
		return err
	}
	p.report("packages are installed")
	return p.kindsServed(ctx, p.source)
}

func (p *Product) packagesHealthy(ctx context.Context) error {
	providers, functions, configurations := &pkgv1.ProviderList{}, &pkgv1.FunctionList{}, &pkgv1.ConfigurationList{}
	for _, l := range []client.ObjectList{providers, functions, configurations} {
		if err := p.Client.List(ctx, l); err != nil {
			return fmt.Errorf("cannot list packages: %w", err)
		}
	}
	var all []pkgv1.Package
	for i := range providers.Items {
		all = append(all, &providers.Items[i])
	}
	for i := range functions.Items {
		all = append(all, &functions.Items[i])
	}
	for i := range configurations.Items {
		all = append(all, &configurations.Items[i])
	}
	if len(all) < len(p.source.of(p.configuration)) {
		for _, k := range all {
			if c := k.GetCondition(pkgv1.TypeInstalled); c.Status != corev1.ConditionTrue {
				return fmt.Errorf("package %s is not installed: %s %s", k.GetName(), c.Reason, c.Message)
			}
		}
		return errors.New("the dependencies are not there yet")
	}
	for _, k := range all {
		for _, t := range []xpv2.ConditionType{pkgv1.TypeInstalled, pkgv1.TypeHealthy} {
			if c := k.GetCondition(t); c.Status != corev1.ConditionTrue {
				return fmt.Errorf("package %s is not %s: %s %s", k.GetName(), t, c.Reason, c.Message)
			}
		}
	}
	return nil
}

// served is nil when the API server serves the kind of a CustomResourceDefinition.
func (p *Product) served(ctx context.Context, name string) error {
	crd := &extv1.CustomResourceDefinition{}
	if err := p.Client.Get(ctx, types.NamespacedName{Name: name}, crd); err != nil {
		return fmt.Errorf("cannot get CustomResourceDefinition %q: %w", name, err)
	}
	for _, c := range crd.Status.Conditions {
		if c.Type == extv1.Established && c.Status == extv1.ConditionTrue {
			return nil
		}
	}
	return fmt.Errorf("CustomResourceDefinition %q is not established", name)
}

// configsHealthy is nil when both ClusterProviderConfigs that configure made have been probed successfully.
func (p *Product) configsHealthy(ctx context.Context) error {
	pg, bao := &postgresqlv1alpha1.ClusterProviderConfig{}, &openbaov1alpha1.ClusterProviderConfig{}
	for _, o := range []client.Object{pg, bao} {
		if err := p.Client.Get(ctx, types.NamespacedName{Name: "default"}, o); err != nil {
			return fmt.Errorf("cannot get %T: %w", o, err)
		}
	}
	if c := pg.GetCondition(postgresqlv1alpha1.TypeHealthy); c.Status != corev1.ConditionTrue {
		return fmt.Errorf("the ClusterProviderConfig of PostgreSQL is not Healthy: %s %s", c.Reason, c.Message)
	}
	if c := bao.GetCondition(openbaov1alpha1.TypeHealthy); c.Status != corev1.ConditionTrue {
		return fmt.Errorf("the ClusterProviderConfig of OpenBao is not Healthy: %s %s", c.Reason, c.Message)
	}
	return nil
}

// WaitFor polls until a check succeeds or the context ends. The error says what was waited for, why it was not so at last, and where the
// logs are.
func (p *Product) WaitFor(ctx context.Context, what string, check func(context.Context) error) error {
	t := time.NewTicker(pollInterval)
	defer t.Stop()
	for {
		err := check(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("waited for %s: %w (logs in %s)", what, err, p.Plane.Logs)
		case <-t.C:
		}
	}
}
