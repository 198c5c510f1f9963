package openbao

import (
	"net/http"
	"strings"
	"testing"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	commonv1alpha1 "github.com/ryuvia/provider-terdut/apis/common/v1alpha1"
	"github.com/ryuvia/provider-terdut/apis/openbao/v1alpha1"
)

// TestH22SamePassword holds that a password is generated once: nothing but a new trigger changes it.
func TestH22SamePassword(t *testing.T) {
	user := "another"
	cases := map[string]struct {
		reason string
		// act returns the object to go on with.
		act func(t *testing.T, p *provider, s *v1alpha1.BaoSecret) *v1alpha1.BaoSecret
		// versions are how many the act takes, for other keys than the password.
		versions int
	}{
		"Restart": {"The provider is started again.", func(_ *testing.T, p *provider, s *v1alpha1.BaoSecret) *v1alpha1.BaoSecret {
			p.restart()
			return s
		}, 0},
		"Label": {"Labels and annotations are nothing to the record.", func(_ *testing.T, _ *provider, s *v1alpha1.BaoSecret) *v1alpha1.BaoSecret {
			s.Labels, s.Annotations["note"] = map[string]string{"a": "b"}, "x"
			return s
		}, 0},
		"Generation": {"A longer password is for the next one.", func(_ *testing.T, _ *provider, s *v1alpha1.BaoSecret) *v1alpha1.BaoSecret {
			s.Spec.ForProvider.Data[1].Generate = &v1alpha1.Generate{Length: 64, Symbols: true}
			return s
		}, 0},
		"SecondKey": {"A second key is a new version with the same password.", func(_ *testing.T, _ *provider, s *v1alpha1.BaoSecret) *v1alpha1.BaoSecret {
			s.Spec.ForProvider.Data = append(s.Spec.ForProvider.Data, generated("second"))
			return s
		}, 1},
		"FixedValue": {"So is another value of another key.", func(_ *testing.T, _ *provider, s *v1alpha1.BaoSecret) *v1alpha1.BaoSecret {
			s.Spec.ForProvider.Data[0].Value = &user
			return s
		}, 1},
		"Restored": {"A backup brings the object back without status and annotations.", func(t *testing.T, p *provider, s *v1alpha1.BaoSecret) *v1alpha1.BaoSecret {
			t.Helper()
			p.restart()
			s = reborn(s, s.UID)
			p.apply(t, s)
			return s
		}, 0},
		"AppliedAgain": {"The object is deleted with Retain and applied again, and an admin hands its record over.", func(t *testing.T, p *provider, s *v1alpha1.BaoSecret) *v1alpha1.BaoSecret {
			t.Helper()
			if gone, err := p.pass(t.Context(), going(s, commonv1alpha1.DeletionRetain)); !gone || err != nil {
				t.Fatalf("the object must go: %v", err)
			}
			n := reborn(s, "new "+s.UID)
			p.apply(t, n)
			p.stays(t, n, v1alpha1.ReasonConflict, look(t, n.Spec.ForProvider.Path))
			p.adopt(t, handOver(n.Spec.ForProvider.Path, string(s.UID), false))
			return n
		}, 0},
		"OtherPlane": {"A new control plane takes over what the old one recorded of the same name.", func(t *testing.T, p *provider, s *v1alpha1.BaoSecret) *v1alpha1.BaoSecret {
			t.Helper()
			path := s.Spec.ForProvider.Path
			tags := without(look(t, path).Custom, "")
			tags["terdut-control-plane"], tags["terdut-owner-uid"], tags["terdut-holder"] = "there", "earlier", "earlier"
			tag(t, path, tags)
			pc := &v1alpha1.ClusterProviderConfig{}
			pc.Name = "default"
			if err := p.kube.Get(t.Context(), keyOf(pc), pc); err != nil {
				t.Fatal(err)
			}
			pc.Spec.ControlPlanes = []commonv1alpha1.ControlPlaneAdoption{{From: "there"}}
			if err := p.kube.Update(t.Context(), pc); err != nil {
				t.Fatal(err)
			}
			return s
		}, 0},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			path, p := "same/"+name, newProvider(t)
			s := record(t, path, func(s *v1alpha1.BaoSecret) { trigger(s, "first") })
			p.apply(t, s)
			was := p.ready(t, s)
			s = tc.act(t, p, s)
			now := p.ready(t, s)
			if now.Version != was.Version+tc.versions || now.Data["password"] != was.Data["password"] {
				t.Errorf("\n%s\nthe record is at version %d, it was at %d, or its password is another", tc.reason, now.Version, was.Version)
			}
			p.stays(t, s, xpv2.ReasonAvailable, now)

			trigger(s, "second")
			if now := p.ready(t, s); now.Version != was.Version+tc.versions+1 || now.Data["password"] == was.Data["password"] {
				t.Errorf("\n%s\na trigger takes the record to version %d, or changes nothing", tc.reason, now.Version)
			}
			p.stays(t, s, xpv2.ReasonAvailable, look(t, path))
		})
	}
}

// TestH22RemovedKey holds that a generated key that somebody removed by hand is data that is lost, and that a key that is new is not.
func TestH22RemovedKey(t *testing.T) {
	path, p := "removed-key", newProvider(t)
	s := record(t, path)
	p.apply(t, s)
	p.ready(t, s)
	s.Spec.ForProvider.Data = append(s.Spec.ForProvider.Data, generated("second"))
	was := p.ready(t, s)
	put(t, path, `{"user":"shop","second":`+was.Data["second"]+`}`)
	p.stays(t, s, v1alpha1.ReasonDataLost, look(t, path))
	if got := s.GetCondition(xpv2.TypeReady).Message; !strings.Contains(got, `"password"`) || !strings.Contains(got, "recreate") {
		t.Errorf("the message must name the key and what to do: %s", got)
	}
	// Nor does another key of the spec bring it back.
	s.Spec.ForProvider.Data = append(s.Spec.ForProvider.Data, generated("third"))
	p.stays(t, s, v1alpha1.ReasonDataLost, look(t, path))

	// It is restored by hand.
	put(t, path, `{"user":"shop","second":`+was.Data["second"]+`,"password":`+was.Data["password"]+`}`)
	now := p.ready(t, s)
	if now.Data["password"] != was.Data["password"] || now.Data["second"] != was.Data["second"] || now.Data["third"] == "" || now.Version != 5 {
		t.Errorf("the record is at version %d, or its values are not what they should be", now.Version)
	}

	// Or an admin allows another one.
	put(t, path, `{"user":"shop","second":`+was.Data["second"]+`,"third":`+now.Data["third"]+`}`)
	p.stays(t, s, v1alpha1.ReasonDataLost, look(t, path))
	p.adopt(t, handOver(path, string(s.UID), true))
	anew := p.ready(t, s)
	if anew.Data["password"] == was.Data["password"] || anew.Data["password"] == "" || anew.Data["third"] != now.Data["third"] || anew.Version != 7 {
		t.Errorf("the record is at version %d, or its values are not what they should be", anew.Version)
	}
}

// TestH24ForeignKeys holds that what others put into a record is kept byte for byte over 20 polls, without a version or any write, and also when
// we write; that a fixed value is put back; and that the password that is stored is the one that counts.
func TestH24ForeignKeys(t *testing.T) {
	path, p := "foreign-keys", newProvider(t)
	s := record(t, path)
	p.apply(t, s)
	was := p.ready(t, s)
	const theirs = `"big":12345678901234567890,"decimal":1.10,"yes":true,"nested":{"z":[1,2.50,null],"a":"<&>"}`
	put(t, path, `{"user":"shop","password":`+was.Data["password"]+`,`+theirs+`}`)
	whole := string(admin(t, http.MethodGet, "kv/data/"+path, "")["data"])
	hand := look(t, path)
	p.wire.seen()
	p.passes(t, s, 20)
	is(t, s, xpv2.ReasonAvailable)
	if w := p.wire.writes(); len(w) > 0 {
		t.Errorf("20 polls wrote %v", w)
	}
	same(t, path, hand)
	if string(admin(t, http.MethodGet, "kv/data/"+path, "")["data"]) != whole {
		t.Error("20 polls changed the data")
	}

	// A change of ours keeps them.
	user := "another"
	s.Spec.ForProvider.Data[0].Value = &user
	now := p.ready(t, s)
	for _, k := range []string{"big", "decimal", "yes", "nested", "password"} {
		if now.Data[k] != hand.Data[k] {
			t.Errorf("key %q is not what it was", k)
		}
	}
	if now.Version != hand.Version+1 || now.Data["user"] != `"another"` {
		t.Errorf("the record is at version %d, it was at %d, or our change is not there", now.Version, hand.Version)
	}

	// A fixed value that was changed by hand is put back, once.
	put(t, path, `{"user":"by hand","password":"by hand",`+theirs+`}`)
	hand = look(t, path)
	now = p.ready(t, s)
	if now.Version != hand.Version+1 || now.Data["user"] != `"another"` || now.Data["password"] != `"by hand"` {
		t.Errorf("the record is at version %d, it was at %d, or its values are not what they should be", now.Version, hand.Version)
	}
	p.stays(t, s, xpv2.ReasonAvailable, now)
}
