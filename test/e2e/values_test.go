package e2e

import (
	"testing"

	commonv1alpha1 "github.com/ryuvia/provider-terdut/apis/common/v1alpha1"
	openbaov1alpha1 "github.com/ryuvia/provider-terdut/apis/openbao/v1alpha1"
	"github.com/ryuvia/provider-terdut/cluster/local/product"
)

// A generated value stays through everything that asks for no new one.
func TestH22ValueStays(t *testing.T) {
	ns := namespace(t)
	path := "stays/" + ns
	record := newRecord(ns, "orders", path)
	record.Spec.ForProvider.DeletionPolicy = commonv1alpha1.DeletionDelete
	create(t, record)
	bothReady(t, record)
	before := world(t, "none", path)
	unchanged := func(what string) {
		t.Helper()
		passes(t, credentials, 2)
		bothReady(t, record)
		after := world(t, "none", path)
		same(t, what, before, after, "record/data/data", "record/metadata/versions", "record/metadata/current_version")
	}
	edit(t, record, func(s *openbaov1alpha1.BaoSecret) {
		s.Labels, s.Annotations["note"] = map[string]string{"team": "shop"}, "edited"
	})
	unchanged("after an edit of labels and annotations")
	if err := p.Runtime.Restart(t.Context(), product.Provider); err != nil {
		t.Fatal(err)
	}
	unchanged("after a restart")
	record.Status = openbaov1alpha1.BaoSecretStatus{}
	if err := p.Client.Status().Update(t.Context(), record); err != nil {
		t.Fatalf("cannot remove the status: %v", err)
	}
	unchanged("without the status")
	first, err := kvPassword(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	edit(t, record, func(s *openbaov1alpha1.BaoSecret) {
		s.Spec.ForProvider.Data = append(s.Spec.ForProvider.Data, openbaov1alpha1.DataItem{Key: "second", Generate: &openbaov1alpha1.Generate{Length: 32}})
	})
	eventuallyWorld(t, "the second key", "none", path, func(f facts) bool { return f["record/metadata/current_version"] == "2" })
	second, err := kvPassword(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	samePassword(t, "after a second key", []byte(first), []byte(second))
	before = world(t, "none", path)
	unchanged("with a second key")
}
