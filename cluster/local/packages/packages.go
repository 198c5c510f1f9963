// Package packages serves the product's packages from a registry on the loopback interface.
//
// The packages keep their public names. An ImageConfig tells Crossplane to look for them here, as it would for a mirror, so the same
// packages work on every plane and Crossplane resolves the dependencies between them.
package packages

import (
	"context"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	pkgv1beta1 "github.com/crossplane/crossplane/apis/v2/pkg/v1beta1"

	"github.com/ryuvia/provider-terdut/cluster/images"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

// readHeaderTimeout of the registry. Its only clients are on this machine.
const readHeaderTimeout = 10 * time.Second

// A Registry is a running registry.
type Registry struct {
	server  *http.Server
	address string
}

// Start a registry on a free port. It keeps layers in a folder, which is made when missing, and everything else in memory.
func Start(dir string) (*Registry, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("cannot create folder of the registry: %w", err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("cannot listen for the registry: %w", err)
	}
	quiet := log.New(io.Discard, "", 0)
	r := &Registry{
		address: l.Addr().String(),
		server: &http.Server{
			Handler:           registry.New(registry.Logger(quiet), registry.WithBlobHandler(registry.NewDiskBlobHandler(dir))),
			ReadHeaderTimeout: readHeaderTimeout,
			ErrorLog:          quiet,
		},
	}
	go func() { _ = r.server.Serve(l) }() // Ends when the server is closed.
	return r, nil
}

// Address of the registry, host and port. It speaks plain HTTP, which clients accept from the loopback interface.
func (r *Registry) Address() string { return r.address }

// Stop the registry.
func (r *Registry) Stop() { _ = r.server.Close() }

// Rewrite returns the ImageConfig with which Crossplane finds the public packages in this registry.
func (r *Registry) Rewrite() *pkgv1beta1.ImageConfig {
	return &pkgv1beta1.ImageConfig{
		TypeMeta:   metav1.TypeMeta{APIVersion: pkgv1beta1.SchemeGroupVersion.String(), Kind: "ImageConfig"},
		ObjectMeta: metav1.ObjectMeta{Name: "local-registry"},
		Spec: pkgv1beta1.ImageConfigSpec{
			MatchImages:  []pkgv1beta1.ImageMatch{{Type: pkgv1beta1.Prefix, Prefix: images.Repository + "/"}},
			RewriteImage: &pkgv1beta1.ImageRewrite{Prefix: r.address + "/"},
		},
	}
}

// Push a package and return the public reference by which it is installed on a plane that has the registry's ImageConfig. Crossplane
// accepts only semantic versions as the tag of a dependency.
func (r *Registry) Push(ctx context.Context, pkg, version string, img v1.Image) (string, error) {
	ref, err := name.ParseReference(r.address+"/"+pkg+":"+version, name.StrictValidation)
	if err != nil {
		return "", fmt.Errorf("cannot parse reference of package %q: %w", pkg, err)
	}
	if err := remote.Write(ref, img, remote.WithContext(ctx)); err != nil {
		return "", fmt.Errorf("cannot push package %q: %w", pkg, err)
	}
	return images.Repository + "/" + pkg + ":" + version, nil
}

// PushAll builds and pushes packages under one version. It returns their public references by package name.
func (r *Registry) PushAll(ctx context.Context, b *images.Builder, version string, pkgs []images.Package) (map[string]string, error) {
	g, ctx := errgroup.WithContext(ctx)
	refs := make([]string, len(pkgs))
	for i, p := range pkgs {
		g.Go(func() error {
			img, err := b.Build(ctx, p)
			if err != nil {
				return err
			}
			refs[i], err = r.Push(ctx, p.Name, version, img)
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	out := make(map[string]string, len(pkgs))
	for i, p := range pkgs {
		out[p.Name] = refs[i]
	}
	return out, nil
}
