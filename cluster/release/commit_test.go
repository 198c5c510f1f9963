package release

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/mod/semver"
)

func TestVersion(t *testing.T) {
	const id = "0123456789abcdef0123456789abcdef01234567"
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	type want struct {
		version string
		tagged  bool
	}
	cases := map[string]struct {
		reason string
		tags   []string
		before []string
		want   want
	}{
		"Tag":        {reason: "A tag is the version.", tags: []string{"v0.1.0"}, before: []string{"v0.1.0"}, want: want{version: "v0.1.0", tagged: true}},
		"HighestTag": {reason: "Of several, it is the highest, by semantic order.", tags: []string{"v0.9.0", "v0.10.0"}, want: want{version: "v0.10.0", tagged: true}},
		"PreRelease": {reason: "A pre-release is tagged like any other version.", tags: []string{"v0.2.0-rc.1"}, want: want{version: "v0.2.0-rc.1", tagged: true}},
		"OtherTags": {
			reason: "Tags that are no complete version, or no tag of an image, are not looked at.",
			tags:   []string{"latest", "v1", "v1.2", "1.2.3", "v0.3.0+build"}, want: want{version: "v0.1.0-0.0.20260102030405-0123456789ab"},
		},
		"NoTag":           {reason: "Before the first release, a commit is a pre-release of it.", want: want{version: "v0.1.0-0.0.20260102030405-0123456789ab"}},
		"Later":           {reason: "A commit after a release is a pre-release of the next.", before: []string{"v0.1.0", "v0.2.0"}, want: want{version: "v0.2.1-0.20260102030405-0123456789ab"}},
		"AfterPreRelease": {reason: "A commit after a pre-release comes after it, and before the next.", before: []string{"v0.2.0-rc.1"}, want: want{version: "v0.2.0-rc.1.0.20260102030405-0123456789ab"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := want{}
			got.version, got.tagged = version(tc.tags, tc.before, id, at)
			if diff := cmp.Diff(tc.want, got, cmp.AllowUnexported(want{})); diff != "" {
				t.Errorf("\n%s\nversion(...): -want, +got:\n%s", tc.reason, diff)
			}
			if len(tc.before) > 0 && !tc.want.tagged && semver.Compare(got.version, highest(tc.before)) <= 0 {
				t.Errorf("\n%s\nversion(...): %s does not come after %s", tc.reason, got.version, highest(tc.before))
			}
		})
	}
	if v, _ := version(nil, nil, id, at); semver.Compare(v, beforeFirst) <= 0 || semver.Compare(v, "v0.1.0") >= 0 {
		t.Errorf("version(...): %s is not between %s and v0.1.0", v, beforeFirst)
	}
}

func TestHead(t *testing.T) {
	dir := smallRepository(t)
	c, err := Head(t.Context(), dir)
	if err != nil {
		t.Fatalf("Head(...): %v", err)
	}
	if want := "v0.1.0-0.0.20260102030405-" + c.ID[:12]; c.Version != want || c.Tagged || c.Dirty {
		t.Errorf("Head(...): want %s, neither tagged nor dirty, got %+v", want, c)
	}
	runGit(t, dir, "tag", "v0.1.0")
	runGit(t, dir, "rm", "-q", "-r", "examples")
	c, err = Head(t.Context(), dir)
	if err != nil {
		t.Fatalf("Head(...): %v", err)
	}
	if c.Version != "v0.1.0" || !c.Tagged || !c.Dirty {
		t.Errorf("Head(...) with a tag and a removed file: got %+v", c)
	}
}
