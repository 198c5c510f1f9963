package openbao

import (
	"encoding/base64"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// maxRoleName is what the AppRole method takes at most, in bytes.
const maxRoleName = 4096

// ownPolicies are those of the server: they cannot be changed or not be removed.
var ownPolicies = []string{"root", "default", "response-wrapping", "control-group"}

// roleNames is what the paths of both authentication methods match.
var roleNames = regexp.MustCompile(`^[a-z0-9_]([a-z0-9_.-]*[a-z0-9_])?$`)

// ValidatePolicyName says whether name is the one spelling of a policy that can be managed: the server knows names in lower case and
// without white space around them, and roles have lists of names with commas between them.
func ValidatePolicyName(name string) error {
	if err := validateSegments(name); err != nil {
		return fmt.Errorf("policy name %q %w", name, err)
	}
	switch {
	case strings.ContainsAny(name, "/,") || strings.Contains(name, ".."):
		return fmt.Errorf("policy name %q must not have slashes, commas or two dots in a row", name)
	case strings.TrimSpace(name) != name:
		return fmt.Errorf("policy name %q must not start or end with white space", name)
	case strings.ToLower(name) != name:
		return fmt.Errorf("policy name %q must be lower case", name)
	case slices.Contains(ownPolicies, name):
		return fmt.Errorf("policy %q is the server's own", name)
	}
	return nil
}

// ValidatePolicyText says whether the server would keep the text of a policy as it is. Whether it is a policy only the server can say.
func ValidatePolicyText(policy string) error {
	if strings.TrimFunc(policy, unicode.IsSpace) == "" {
		return errors.New("the text of a policy must not be empty")
	}
	if _, err := base64.StdEncoding.DecodeString(policy); err == nil {
		return errors.New("the text of a policy must not be base64, which the server would decode")
	}
	return nil
}

// ValidateRoleName says whether name is the one spelling of a role of an authentication method: the server knows them in lower case.
func ValidateRoleName(name string) error {
	if len(name) > maxRoleName {
		return fmt.Errorf("role name must be at most %d bytes", maxRoleName)
	}
	if !roleNames.MatchString(name) || strings.Contains(name, "..") {
		return fmt.Errorf("role name %q must be lower case letters, digits and underscores, with single dots and dashes only between them", name)
	}
	return nil
}

// ValidateMount says whether mount is the one spelling of a mount, which for an authentication method is without auth/.
func ValidateMount(mount string) error { return validateMount(mount) }
