package openbao

import (
	"fmt"
	"maps"
	"math"
	"slices"
)

// MaxSeconds is the longest duration that the server, which counts nanoseconds in 64 bits, can hold. It takes longer ones for others.
const MaxSeconds = math.MaxInt64 / 1_000_000_000

// Types of tokens that a role can issue.
const (
	// TokenTypeDefault leaves the choice to the mount of the authentication method.
	TokenTypeDefault = "default"
	// TokenTypeService issues tokens that can be renewed, revoked and used by others to make tokens.
	TokenTypeService = "service"
	// TokenTypeBatch issues tokens that the server does not store: they can be neither renewed nor revoked.
	TokenTypeBatch = "batch"
)

// TokenSettings are what every role of an authentication method says about the tokens that it issues. Durations are whole seconds, and 0
// leaves them to the mount and the server. A write sets all of them.
type TokenSettings struct {
	// TokenTTL is how long a token lives at first.
	TokenTTL int64 `json:"token_ttl"`
	// TokenMaxTTL is how long a token can live with renewals.
	TokenMaxTTL int64 `json:"token_max_ttl"`
	// TokenExplicitMaxTTL is like TokenMaxTTL, but fixed when the token is issued.
	TokenExplicitMaxTTL int64 `json:"token_explicit_max_ttl"`
	// TokenPeriod makes tokens that can be renewed for ever, each time for this long.
	TokenPeriod int64 `json:"token_period"`
	// TokenPolicies that tokens have besides the default one.
	TokenPolicies []string `json:"token_policies"`
	// TokenBoundCIDRs are the addresses from which a login and its token can be used. Empty is anywhere.
	TokenBoundCIDRs []string `json:"token_bound_cidrs"`
	// TokenNoDefaultPolicy keeps the default policy from tokens.
	TokenNoDefaultPolicy bool `json:"token_no_default_policy"`
	// TokenNumUses is how many requests a token is good for. 0 is any number.
	TokenNumUses int64 `json:"token_num_uses"`
	// TokenType is one of default, service and batch.
	TokenType string `json:"token_type"`
}

// validate durations, which the server would not refuse when they are too long.
func (s TokenSettings) validate() error {
	return validateSeconds(map[string]int64{
		"token_ttl": s.TokenTTL, "token_max_ttl": s.TokenMaxTTL, "token_explicit_max_ttl": s.TokenExplicitMaxTTL, "token_period": s.TokenPeriod,
	})
}

func validateSeconds(durations map[string]int64) error {
	for _, name := range slices.Sorted(maps.Keys(durations)) {
		if d := durations[name]; d < 0 || d > MaxSeconds {
			return fmt.Errorf("%s must be between 0 and %d seconds", name, int64(MaxSeconds))
		}
	}
	return nil
}
