package product

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	pkgv1 "github.com/crossplane/crossplane/apis/v2/pkg/v1"

	"github.com/ryuvia/provider-terdut/cluster/images"
)

// Install the packages of a source at its version, as an administrator does who applies the install manifest of a release: roles, then
// provider and functions, then the Configuration. What is there in another version is upgraded, or downgraded. It returns when the packages
// are healthy, run and their kinds are served.
func (p *Product) Install(ctx context.Context, s Source) error {
	refs, err := p.pushSource(ctx, s)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, installTimeout)
	defer cancel()
	if err := p.applyRoles(ctx, s); err != nil {
		return err
	}
	installed := map[string]string{}
	for _, pkg := range s.of(p.configuration) {
		installed[pkg.Name] = refs[pkg.Name]
		o, err := packageOf(s, pkg, refs[pkg.Name])
		if err != nil {
			return err
		}
		if err := p.Plane.Apply(ctx, o); err != nil {
			return err
		}
	}
	if err := p.WaitFor(ctx, "packages to be healthy at "+s.Version, func(ctx context.Context) error { return p.runs(ctx, installed) }); err != nil {
		return err
	}
	p.report("packages are installed as %s", s.Version)
	return p.kindsServed(ctx, s)
}

// Offer the kinds in another flavour from the next Install on. The flavour of before must have been uninstalled.
func (p *Product) Offer(f Flavour) (err error) {
	p.configuration, err = f.configuration()
	return err
}

// packageOf is the manifest of a package. What others depend on has the name that Crossplane gives to a dependency, with the organisation in
// front.
func packageOf(s Source, pkg images.Package, ref string) ([]byte, error) {
	raw, err := os.ReadFile(filepath.Join(s.Dir, pkg.Root, "crossplane.yaml"))
	if err != nil {
		return nil, fmt.Errorf("cannot read metadata of package %q: %w", pkg.Name, err)
	}
	meta := metav1.TypeMeta{}
	if err := yaml.Unmarshal(raw, &meta); err != nil {
		return nil, fmt.Errorf("cannot parse metadata of package %q: %w", pkg.Name, err)
	}
	name := pkg.Name
	if meta.Kind != pkgv1.ConfigurationKind {
		name = Dependency(name)
	}
	return fmt.Appendf(nil, "apiVersion: %s\nkind: %s\nmetadata: {name: %s}\nspec: {package: %q}\n", pkgv1.SchemeGroupVersion, meta.Kind, name, ref), nil
}

// Dependency is the name that Crossplane gives to a package of ours that it installs as a dependency.
func Dependency(pkg string) string { return path.Base(images.Repository) + "-" + pkg }

// runs is nil when packages are healthy at their references, and the programs of these run.
func (p *Product) runs(ctx context.Context, refs map[string]string) error {
	running := map[string]bool{}
	for _, i := range p.Runtime.Instances() {
		running[i.Revision] = true
	}
	for name, ref := range refs {
		var pkg pkgv1.Package
		var rev pkgv1.PackageRevision
		switch {
		case strings.HasPrefix(name, "provider-"):
			pkg, rev = &pkgv1.Provider{}, &pkgv1.ProviderRevision{}
			name = Dependency(name)
		case strings.HasPrefix(name, "function-"):
			pkg, rev = &pkgv1.Function{}, &pkgv1.FunctionRevision{}
			name = Dependency(name)
		default:
			pkg, rev = &pkgv1.Configuration{}, &pkgv1.ConfigurationRevision{}
		}
		if err := p.healthy(ctx, pkg, rev, name, ref); err != nil {
			return fmt.Errorf("package %s: %w", name, err)
		}
		if _, program := rev.(pkgv1.PackageRevisionWithRuntime); program && !running[rev.GetName()] {
			return fmt.Errorf("package %s: revision %s does not run", name, rev.GetName())
		}
	}
	return nil
}

// healthy is nil when a package is at a reference, and its revision of that is the active one and healthy.
func (p *Product) healthy(ctx context.Context, pkg pkgv1.Package, rev pkgv1.PackageRevision, name, ref string) error {
	if err := p.Client.Get(ctx, types.NamespacedName{Name: name}, pkg); err != nil {
		return fmt.Errorf("cannot get it: %w", err)
	}
	if at := pkg.GetCurrentIdentifier(); at != ref || pkg.GetSource() != ref {
		return fmt.Errorf("it is at %q, not at %q", at, ref)
	}
	if err := p.Client.Get(ctx, client.ObjectKey{Name: pkg.GetCurrentRevision()}, rev); err != nil {
		return fmt.Errorf("cannot get its revision: %w", err)
	}
	if rev.GetDesiredState() != pkgv1.PackageRevisionActive || rev.GetSource() != ref {
		return errors.New("its revision is not active")
	}
	if c := pkgv1.PackageHealth(rev); c.Status != corev1.ConditionTrue {
		return fmt.Errorf("its revision is not healthy: %s %s", c.Reason, c.Message)
	}
	if c := pkg.GetCondition(pkgv1.TypeHealthy); c.Status != corev1.ConditionTrue {
		return fmt.Errorf("it is not healthy: %s %s", c.Reason, c.Message)
	}
	return nil
}
