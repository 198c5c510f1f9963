package postgresql

import (
	"crypto/hmac"
	"crypto/pbkdf2"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/xdg-go/stringprep"
)

const (
	// scramIterations is PostgreSQL's default (scram_iterations) and the minimum of RFC 7677.
	scramIterations = 4096
	scramSaltBytes  = 16
)

// ValidatePassword returns an error that satisfies IsInvalidPassword for a password that is empty or only white space, because PostgreSQL
// would take the first to mean that the role has none, and for one that clients cannot send alike: not valid UTF-8, or with a NUL.
func ValidatePassword(password string) error {
	var reason string
	switch {
	case strings.TrimSpace(password) == "":
		reason = "it is empty"
	case !utf8.ValidString(password):
		reason = "it is not valid UTF-8"
	case strings.ContainsRune(password, 0):
		reason = "it contains a NUL character"
	default:
		return nil
	}
	return &Error{Op: OpValidate, Message: "password cannot be used: " + reason, class: classInvalidPassword}
}

// verifier returns what PostgreSQL stores for a password, in the form that it takes in place of one: see RFC 5802 and RFC 7677 for the
// computation, and pg_authid in the PostgreSQL documentation for the format.
func verifier(password string) (string, error) {
	if err := ValidatePassword(password); err != nil {
		return "", err
	}
	salt := make([]byte, scramSaltBytes)
	rand.Read(salt) //nolint:errcheck // Never fails, see crypto/rand.
	return verifierWith(password, salt)
}

func verifierWith(password string, salt []byte) (string, error) {
	salted, err := pbkdf2.Key(sha256.New, prepare(password), salt, scramIterations, sha256.Size)
	if err != nil {
		return "", &Error{Op: OpValidate, Message: "cannot derive a key from the password", class: classInvalidPassword}
	}
	stored := sha256.Sum256(mac(salted, "Client Key"))
	b64 := base64.StdEncoding.EncodeToString
	return fmt.Sprintf("SCRAM-SHA-256$%d:%s$%s:%s", scramIterations, b64(salt), b64(stored[:]), b64(mac(salted, "Server Key"))), nil
}

func mac(key []byte, message string) []byte {
	h := hmac.New(sha256.New, key)
	h.Write([]byte(message))
	return h.Sum(nil)
}

// prepare a password with SASLprep (RFC 4013). PostgreSQL and libpq take a password that the profile does not allow as it is, and an
// ASCII one without looking, so the same is done here.
func prepare(password string) string {
	ascii := true
	for i := range len(password) {
		ascii = ascii && password[i] < 0x80
	}
	if ascii {
		return password
	}
	p, err := stringprep.SASLprep.Prepare(password)
	if err != nil || p == "" {
		return password
	}
	return p
}
