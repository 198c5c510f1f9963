package openbao

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// reserved are the mounts that every server has. No key-value engine can be there, and no request about a record goes there.
var reserved = map[string]bool{"auth": true, "sys": true, "identity": true, "cubbyhole": true}

// ValidatePath says whether mount and path name a record, and name it in the only spelling: without leading, trailing or double
// slashes, without . and .. segments, and of printable characters alone, which is what servers accept. Every other character
// is fine in both; nothing in them is taken as escaped.
func ValidatePath(mount, path string) error {
	if err := validateMount(mount); err != nil {
		return err
	}
	if first, _, _ := strings.Cut(mount, "/"); reserved[first] {
		return fmt.Errorf("mount %q is the server's own", mount)
	}
	if err := validateSegments(path); err != nil {
		return fmt.Errorf("path %q %w", path, err)
	}
	return nil
}

func validateMount(mount string) error {
	if err := validateSegments(mount); err != nil {
		return fmt.Errorf("mount %q %w", mount, err)
	}
	return nil
}

// validateSegments returns an error that continues a sentence about what it was given.
func validateSegments(p string) error {
	if p == "" {
		return fmt.Errorf("must not be empty")
	}
	if !utf8.ValidString(p) || strings.ContainsFunc(p, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return fmt.Errorf("must be printable characters")
	}
	if strings.HasPrefix(p, "/") || strings.HasSuffix(p, "/") {
		return fmt.Errorf("must not start or end with a slash")
	}
	for s := range strings.SplitSeq(p, "/") {
		switch s {
		case "":
			return fmt.Errorf("must not have double slashes")
		case ".", "..":
			return fmt.Errorf("must not have . or .. segments")
		}
	}
	return nil
}

// recordRequest returns a request about a record, with api being data or metadata.
func recordRequest(operation, method, api, mount, path, capability string) (request, error) {
	r := request{
		operation:  operation,
		method:     method,
		path:       mount + "/" + api + "/" + path,
		mount:      mount,
		record:     path,
		capability: capability,
	}
	if err := ValidatePath(mount, path); err != nil {
		return r, r.error(ReasonRejected, err.Error())
	}
	return r, nil
}
