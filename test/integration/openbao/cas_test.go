package openbao

import (
	"net/http"
	"testing"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/ryuvia/provider-terdut/apis/openbao/v1alpha1"
)

// TestH19GoneVersions holds that a current version that was deleted or destroyed by hand is data that is lost, until an admin allows a new
// one, which is then written over the version that is gone.
func TestH19GoneVersions(t *testing.T) {
	for how, call := range map[string][2]string{
		"deleted":   {http.MethodDelete, "kv/data/"},
		"destroyed": {http.MethodPost, "kv/destroy/"},
	} {
		t.Run(how, func(t *testing.T) {
			path, p := "gone/"+how, newProvider(t)
			s := record(t, path)
			p.apply(t, s)
			p.ready(t, s)
			admin(t, call[0], call[1]+path, `{"versions":[1]}`)
			gone := look(t, path)
			p.stays(t, s, v1alpha1.ReasonDataLost, gone)
			// So it is for an object that has lost its status.
			s = reborn(s, s.UID)
			p.apply(t, s)
			p.stays(t, s, v1alpha1.ReasonDataLost, gone)

			p.adopt(t, handOver(path, string(s.UID), true))
			now := p.ready(t, s)
			if now.Version != 2 || len(now.Data) != 2 {
				t.Errorf("want version 2 with both keys, got version %d with %d", now.Version, len(now.Data))
			}
			p.stays(t, s, xpv2.ReasonAvailable, now)
		})
	}
}

// TestH19ForeignGoneVersions holds that a record of others whose version is gone is still theirs.
func TestH19ForeignGoneVersions(t *testing.T) {
	for how, call := range map[string][2]string{
		"deleted":   {http.MethodDelete, "kv/data/"},
		"destroyed": {http.MethodPost, "kv/destroy/"},
	} {
		path, p := "foreign-gone/"+how, newProvider(t)
		put(t, path, `{"theirs":1}`)
		admin(t, call[0], call[1]+path, `{"versions":[1]}`)
		s := record(t, path)
		p.apply(t, s)
		p.stays(t, s, v1alpha1.ReasonConflict, look(t, path))
	}
}

// TestH19CASRequired holds that an engine that demands check-and-set is served: with a new record, a new version, and over a version that
// is gone.
func TestH19CASRequired(t *testing.T) {
	path, p := "strict", newProvider(t)
	admin(t, http.MethodPost, "kv/metadata/"+path+"-other", `{"cas_required":true}`)
	s := record(t, path+"-other")
	p.apply(t, s)
	// The metadata is nobody's, and stays so.
	p.stays(t, s, v1alpha1.ReasonConflict, look(t, path+"-other"))

	if err := bao.MountKV(t.Context(), "kv-strict", 2); err != nil {
		t.Fatal(err)
	}
	admin(t, http.MethodPost, "kv-strict/config", `{"cas_required":true}`)
	if err := bao.Root().Sys().PutPolicyWithContext(t.Context(), "provider-terdut", policyFor(t, "kv-strict")); err != nil {
		t.Fatal(err)
	}
	mount := "kv-strict"
	s = record(t, path, func(s *v1alpha1.BaoSecret) { s.Spec.ForProvider.Mount = &mount })
	p.apply(t, s)
	p.passes(t, s, 2)
	is(t, s, xpv2.ReasonAvailable)
	trigger(s, "new")
	p.passes(t, s, 2)
	admin(t, http.MethodDelete, mount+"/data/"+path, "")
	a := handOver(path, string(s.UID), true)
	a.Path = mount + "/" + path
	p.adopt(t, a)
	p.passes(t, s, 2)
	is(t, s, xpv2.ReasonAvailable)
	if got := s.Status.AtProvider.Version; got != 3 {
		t.Errorf("the record is at version %d, want 3", got)
	}
}

// TestH19SecondWriter holds that what somebody else writes between our look at a record and our write is neither lost nor overwritten, and
// that our own change is made in the same pass.
func TestH19SecondWriter(t *testing.T) {
	path, p := "second-writer", newProvider(t)
	s := record(t, path)
	p.apply(t, s)
	was := p.ready(t, s)
	user := "another"
	s.Spec.ForProvider.Data[0].Value = &user
	p.wire.before = func(call string) error {
		if call == "POST kv/data/"+path {
			p.wire.before = nil
			put(t, path, `{"user":"shop","password":`+was.Data["password"]+`,"theirs":1.50}`)
		}
		return nil
	}
	p.passes(t, s, 2)
	now := look(t, path)
	if now.Version != 3 || now.Data["user"] != `"another"` || now.Data["theirs"] != "1.5" && now.Data["theirs"] != "1.50" || now.Data["password"] != was.Data["password"] {
		t.Errorf("the record is at version %d with %d keys: somebody's change is lost", now.Version, len(now.Data))
	}

	// Who is always overtaken says so, and goes on later.
	user = "third"
	p.wire.before = func(call string) error {
		if call == "POST kv/data/"+path {
			put(t, path, `{"user":"shop","password":`+was.Data["password"]+`}`)
		}
		return nil
	}
	if _, err := p.pass(t.Context(), s); err == nil {
		t.Error("want an error")
	}
	if got := s.GetCondition(v1alpha1.TypeRecordReady).Reason; got != v1alpha1.ReasonCASMismatch {
		t.Errorf("the reason is %s", got)
	}
	p.wire.before = nil
	if now = p.ready(t, s); now.Data["user"] != `"third"` {
		t.Error("the change was not made")
	}
}
