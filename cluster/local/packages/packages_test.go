package packages

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/random"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/validate"
)

func TestPush(t *testing.T) {
	r, err := Start(t.TempDir())
	if err != nil {
		t.Fatalf("Start(...): %v", err)
	}
	defer r.Stop()
	img, err := random.Image(1024, 2)
	if err != nil {
		t.Fatal(err)
	}
	for _, version := range []string{"v0.1.0", "v0.2.0"} {
		ref, err := r.Push(t.Context(), "provider-test", version, img)
		if err != nil {
			t.Fatalf("Push(...): %v", err)
		}
		if diff := cmp.Diff("ghcr.io/ryuvia/provider-test:"+version, ref); diff != "" {
			t.Errorf("Push(...): -want reference, +got reference:\n%s", diff)
		}
	}

	repo, err := name.NewRepository(r.Rewrite().Spec.RewriteImage.Prefix + "provider-test")
	if err != nil {
		t.Fatalf("the prefix of Rewrite() does not make a repository name: %v", err)
	}
	tags, err := remote.List(repo, remote.WithContext(t.Context()))
	if err != nil {
		t.Fatalf("remote.List(...): %v", err)
	}
	if diff := cmp.Diff([]string{"v0.1.0", "v0.2.0"}, tags); diff != "" {
		t.Errorf("tags: -want, +got:\n%s", diff)
	}
	got, err := remote.Image(repo.Tag("v0.1.0"), remote.WithContext(t.Context()))
	if err != nil {
		t.Fatalf("remote.Image(...): %v", err)
	}
	if err := validate.Image(got); err != nil {
		t.Errorf("validate.Image(...): %v", err)
	}

	r.Stop()
	if _, err := r.Push(t.Context(), "provider-test", "v0.3.0", img); err == nil {
		t.Error("Push(...) after Stop(): want an error")
	}
}
