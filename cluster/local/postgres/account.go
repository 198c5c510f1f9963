package postgres

import (
	"fmt"
	"os"
	osuser "os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// An account that the server runs as; nil is our own. PostgreSQL refuses to run as root.
type account struct {
	name     string
	uid, gid uint32
}

// unprivileged finds the account for the server: nil unless we are root.
func unprivileged() (*account, error) {
	if os.Geteuid() != 0 {
		return nil, nil
	}
	for _, name := range []string{"postgres", "nobody"} {
		u, err := osuser.Lookup(name)
		if err != nil {
			continue
		}
		uid, err := strconv.ParseUint(u.Uid, 10, 32)
		if err != nil {
			continue
		}
		gid, err := strconv.ParseUint(u.Gid, 10, 32)
		if err != nil {
			continue
		}
		return &account{name: name, uid: uint32(uid), gid: uint32(gid)}, nil
	}
	return nil, fmt.Errorf("cannot run PostgreSQL as root: there is no user postgres or nobody to run it as")
}

func (a *account) credential() *syscall.Credential {
	if a == nil {
		return nil
	}
	return &syscall.Credential{Uid: a.uid, Gid: a.gid, NoSetGroups: false}
}

// own gives a file to the account.
func (a *account) own(path string) error {
	if a == nil {
		return nil
	}
	return os.Chown(path, int(a.uid), int(a.gid))
}

// reach makes sure that the account can enter a folder. Temporary folders are made private to whoever made them: those, and the
// folder itself, are opened for passing through, not for listing. Any other closed folder is left alone and named.
func (a *account) reach(dir string) error {
	if a == nil {
		return nil
	}
	tmp := filepath.Clean(os.TempDir()) + string(filepath.Separator)
	for d := dir; d != "/"; d = filepath.Dir(d) {
		fi, err := os.Stat(d)
		if err != nil {
			return fmt.Errorf("cannot look at folder %q: %w", d, err)
		}
		if fi.Mode()&0o001 != 0 {
			continue
		}
		if d != dir && !strings.HasPrefix(d, tmp) {
			return fmt.Errorf("cannot run PostgreSQL in %q: user %s, which it runs as, may not enter %q", dir, a.name, d)
		}
		if err := os.Chmod(d, fi.Mode().Perm()|0o011); err != nil {
			return fmt.Errorf("cannot open folder %q to user %s: %w", d, a.name, err)
		}
	}
	return nil
}
