package postgresql

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"
)

// MaxNameBytes is the longest name of a role, database or schema, in bytes. PostgreSQL silently cuts longer ones (NAMEDATALEN - 1).
const MaxNameBytes = 63

// ValidateName returns an error that satisfies IsInvalidName when PostgreSQL could not hold the name as it is. Any characters are
// allowed except NUL.
func ValidateName(what, name string) error {
	var reason string
	switch {
	case name == "":
		reason = "it is empty"
	case len(name) > MaxNameBytes:
		reason = fmt.Sprintf("it has %d bytes, PostgreSQL keeps %d", len(name), MaxNameBytes)
	case strings.ContainsRune(name, 0):
		reason = "it contains a NUL character"
	case !utf8.ValidString(name):
		reason = "it is not valid UTF-8"
	default:
		return nil
	}
	return invalidName(what, name, reason)
}

// validateRole also refuses the names that PostgreSQL keeps for itself.
func validateRole(name string) error {
	if err := ValidateName("role", name); err != nil {
		return err
	}
	if strings.HasPrefix(name, "pg_") || name == "public" || name == "none" {
		return invalidName("role", name, "it is reserved by PostgreSQL")
	}
	return nil
}

func invalidName(what, name, reason string) error {
	return &Error{Op: OpValidate, Subject: name, Message: fmt.Sprintf("%s name %q cannot be used: %s", what, name, reason), class: classInvalidName}
}

// ident quotes an identifier.
func ident(name string) string { return pgx.Identifier{name}.Sanitize() }

// literal quotes a string constant. With a backslash it takes the escape form, which means the same whatever standard_conforming_strings says.
func literal(s string) string {
	q := "'" + strings.ReplaceAll(s, "'", "''") + "'"
	if strings.Contains(q, `\`) {
		return " E" + strings.ReplaceAll(q, `\`, `\\`)
	}
	return q
}

// lockKey of the advisory lock for everything that is done about a database name. Advisory locks are local to the registry database.
func lockKey(database string) int64 {
	h := sha256.Sum256([]byte("terdut database " + database))
	return int64(binary.BigEndian.Uint64(h[:8]))
}
