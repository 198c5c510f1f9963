package release

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/mod/module"
	"golang.org/x/mod/semver"
)

// beforeFirst stands in for a tag as long as there is none. Versions that are derived from it come before v0.1.0, and satisfy what the
// Configuration asks of its dependencies.
const beforeFirst = "v0.1.0-0"

// A Commit is what a release is made of.
type Commit struct {
	// ID of the commit, in full.
	ID string
	// Time of the commit.
	Time time.Time
	// Version that the commit is released as, see [version].
	Version string
	// Tagged is true when the version is a tag of the commit.
	Tagged bool
	// Dirty is true when the working tree is not as the commit.
	Dirty bool
}

// Head is the commit that a working tree has checked out.
func Head(ctx context.Context, dir string) (Commit, error) {
	var out [4]string
	for i, args := range [][]string{
		{"show", "-s", "--format=%H %ct", "HEAD"},
		{"tag", "--points-at", "HEAD"},
		{"tag", "--merged", "HEAD"},
		{"status", "--porcelain"},
	} {
		var err error
		if out[i], err = git(ctx, dir, nil, args...); err != nil {
			return Commit{}, err
		}
	}
	id, seconds, _ := strings.Cut(strings.TrimSpace(out[0]), " ")
	unix, err := strconv.ParseInt(seconds, 10, 64)
	if err != nil {
		return Commit{}, fmt.Errorf("cannot parse time of commit: %w", err)
	}
	c := Commit{ID: id, Time: time.Unix(unix, 0).UTC(), Dirty: out[3] != ""}
	c.Version, c.Tagged = version(strings.Fields(out[1]), strings.Fields(out[2]), c.ID, c.Time)
	return c, nil
}

// version of a commit, a semantic version that is also legal as the tag of an image. It is the highest tag of the commit. A commit without
// one has a pre-release, as Go has for modules: later than the highest tag before it and earlier than the next, with the commit's time and
// the beginning of its id. An abbreviation by git would depend on what else the repository holds.
func version(tags, before []string, id string, at time.Time) (v string, tagged bool) {
	if t := highest(tags); t != "" {
		return t, true
	}
	older := highest(before)
	if older == "" {
		older = beforeFirst
	}
	return module.PseudoVersion(semver.Major(older), older, at, id[:12]), false
}

// highest of the tags that are complete semantic versions, or none. Build metadata cannot be in the tag of an image.
func highest(tags []string) string {
	tags = slices.DeleteFunc(slices.Clone(tags), func(t string) bool { return semver.Canonical(t) != t })
	semver.Sort(tags)
	if len(tags) == 0 {
		return ""
	}
	return tags[len(tags)-1]
}

// Export the files of a commit to a folder, which is made when missing. The repository and its working tree stay as they are.
func Export(ctx context.Context, dir, commit, to string) error {
	if err := os.MkdirAll(to, 0o755); err != nil {
		return fmt.Errorf("cannot create source folder: %w", err)
	}
	env := []string{"GIT_INDEX_FILE=" + to + ".index"}
	if _, err := git(ctx, dir, env, "read-tree", commit); err != nil {
		return err
	}
	_, err := git(ctx, dir, env, "-c", "core.autocrlf=false", "checkout-index", "--all", "--prefix="+to+string(filepath.Separator))
	return err
}

// checkChangelog holds that a tagged release is described. A pre-release is described by what is unreleased.
func checkChangelog(source string, c Commit) error {
	if !c.Tagged || semver.Prerelease(c.Version) != "" {
		return nil
	}
	raw, err := os.ReadFile(filepath.Join(source, "CHANGELOG.md"))
	if err != nil {
		return fmt.Errorf("cannot read changelog: %w", err)
	}
	if heading := "\n## [" + strings.TrimPrefix(c.Version, "v") + "] - "; !bytes.Contains(raw, []byte(heading)) {
		return fmt.Errorf("cannot release %s: CHANGELOG.md has no section that begins with %q", c.Version, strings.TrimSpace(heading))
	}
	return nil
}

// git runs a command of git in a folder.
func git(ctx context.Context, dir string, env []string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), env...)
	out, err := cmd.Output()
	if err != nil {
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			err = fmt.Errorf("%w: %s", err, bytes.TrimSpace(exit.Stderr))
		}
		return "", fmt.Errorf("cannot run git %s: %w", args[0], err)
	}
	return string(out), nil
}
