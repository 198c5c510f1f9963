package generate

import (
	"fmt"
	"math"
	"os"
	"os/exec"
	"strings"
	"testing"
)

func TestH27Password(t *testing.T) {
	type args struct {
		length  int
		symbols bool
	}
	cases := map[string]struct {
		reason  string
		args    args
		classes []string
		refused bool
	}{
		"Shortest": {
			reason:  "The shortest password still has every class.",
			args:    args{length: MinLength},
			classes: []string{lower, upper, digits},
		},
		"Symbols": {
			reason:  "Symbols are one more class that is always there.",
			args:    args{length: MinLength, symbols: true},
			classes: []string{lower, upper, digits, symbols},
		},
		"Longest": {
			reason:  "The longest password is exactly that long.",
			args:    args{length: MaxLength, symbols: true},
			classes: []string{lower, upper, digits, symbols},
		},
		"TooShort": {
			reason:  "A weak password is refused instead of made.",
			args:    args{length: MinLength - 1},
			refused: true,
		},
		"TooLong": {
			reason:  "The length is bounded.",
			args:    args{length: MaxLength + 1},
			refused: true,
		},
		"Negative": {
			reason:  "A length that makes no sense is refused.",
			args:    args{length: -1},
			refused: true,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			for range 200 {
				got, err := Password(tc.args.length, tc.args.symbols)
				if (err != nil) != tc.refused {
					t.Fatalf("\n%s\nPassword(...): refused: %t, want %t", tc.reason, err != nil, tc.refused)
				}
				if tc.refused {
					return
				}
				if len(got) != tc.args.length {
					t.Fatalf("\n%s\nPassword(...): the length is wrong", tc.reason)
				}
				if !strings.ContainsAny(got[:1], lower+upper) {
					t.Fatalf("\n%s\nPassword(...): does not start with a letter", tc.reason)
				}
				for i, c := range tc.classes {
					if !strings.ContainsAny(got, c) {
						t.Fatalf("\n%s\nPassword(...): class %d is missing", tc.reason, i)
					}
				}
				if strings.Trim(got, strings.Join(tc.classes, "")) != "" {
					t.Fatalf("\n%s\nPassword(...): has a character of no class", tc.reason)
				}
			}
		})
	}
}

// TestH27Alphabet: no character ends or changes a value in a shell, a quoted connection string, a URI's path or a configuration file.
func TestH27Alphabet(t *testing.T) {
	const special = "\"'`\\$&;|<>()[]{}#/? \t\r\n"
	if i := strings.IndexAny(lower+upper+digits+symbols, special); i >= 0 {
		t.Errorf("character %d of the alphabet needs escaping", i)
	}
}

// TestH27Source: two processes make different passwords, so their source is not one that every process begins alike.
func TestH27Source(t *testing.T) {
	const child = "TERDUT_TEST_GENERATE"
	if os.Getenv(child) != "" {
		p, err := Password(MaxLength, true)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Println("made", p)
		return
	}
	var made [2]string
	for i := range made {
		c := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestH27Source$")
		c.Env = append(os.Environ(), child+"=1")
		out, err := c.Output()
		if err != nil {
			t.Fatal(err)
		}
		_, made[i], _ = strings.Cut(string(out), "made ")
		if len(made[i]) < MaxLength {
			t.Fatal("a process made no password, so this test proves nothing")
		}
		made[i] = made[i][:MaxLength]
	}
	if made[0] == made[1] {
		t.Error("two processes made the same password")
	}
}

// TestH27Spread counts each character over many passwords and compares with equal shares by a chi-squared test. With a bias of the kind
// that taking the remainder of a byte makes, the first eight characters of 62 would come up a quarter more often than the others.
func TestH27Spread(t *testing.T) {
	const samples, length = 10000, 32
	alphabet := lower + upper + digits
	counts := map[rune]float64{}
	seen := map[string]bool{}
	for range samples {
		p, err := Password(length, false)
		if err != nil {
			t.Fatal(err)
		}
		if seen[p] {
			t.Fatal("the same password came twice")
		}
		seen[p] = true
		// The first character is always a letter, which is a spread of its own.
		for _, r := range p[1:] {
			counts[r]++
		}
	}

	want := float64(samples*(length-1)) / float64(len(alphabet))
	var chi float64
	for _, r := range alphabet {
		d := counts[r] - want
		chi += d * d / want
	}
	// For 61 degrees of freedom the mean is 61 and the deviation the root of 122. Requiring each class adds a little. Ten deviations
	// never happen by chance, and a remainder bias is hundreds.
	if limit := 61 + 10*math.Sqrt(122); chi > limit {
		t.Errorf("characters are not equally likely: chi squared is %.0f, want at most %.0f", chi, limit)
	}
}
