// Package generate makes passwords.
package generate

import (
	"crypto/rand"
	"fmt"
	"strings"
)

// Bounds of a password's length in characters. The shortest has more than 90 bits of entropy.
const (
	MinLength = 16
	MaxLength = 1024
)

// Classes of characters. Symbols are those that neither shells, nor connection strings in quotes, nor configuration files take as the
// end of a value: no quotes, backslash, dollar, backtick, ampersand, semicolon, bracket, hash, slash, question mark or white space.
const (
	lower   = "abcdefghijklmnopqrstuvwxyz"
	upper   = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	digits  = "0123456789"
	symbols = "-._~!*+=:,@%^"
)

// Password returns a random password of exactly the given length, of letters and digits and, when asked for, symbols. It starts with a
// letter and has at least one character of each class. All passwords that meet this are equally likely. The error says that the
// length is out of bounds.
func Password(length int, withSymbols bool) (string, error) {
	if length < MinLength || length > MaxLength {
		return "", fmt.Errorf("password length must be %d to %d characters", MinLength, MaxLength)
	}
	classes := []string{lower, upper, digits}
	if withSymbols {
		classes = append(classes, symbols)
	}
	alphabet := strings.Join(classes, "")

	b := make([]byte, length)
	// Trying again as a whole, rather than putting a missing character somewhere, keeps all passwords equally likely.
	for ok := false; !ok; {
		b[0] = pick(lower + upper)
		for i := range b[1:] {
			b[i+1] = pick(alphabet)
		}
		ok = true
		for _, c := range classes {
			ok = ok && strings.ContainsAny(c, string(b))
		}
	}
	return string(b), nil
}

// pick returns a random character. Bytes beyond the last multiple of the alphabet's size are thrown away, since they would make its
// first characters more likely.
func pick(alphabet string) byte {
	limit := 256 - 256%len(alphabet)
	var b [1]byte
	for {
		// It never fails: without a source of randomness the program ends.
		_, _ = rand.Read(b[:])
		if int(b[0]) < limit {
			return alphabet[int(b[0])%len(alphabet)]
		}
	}
}
