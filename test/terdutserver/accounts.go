package terdutserver

import (
	"net/http"
	"slices"
	"time"
)

// issued is a key at the only moment at which it is shown.
type issued struct {
	ID   int64  `json:"id"`
	Name string `json:"name,omitempty"`
	Key  string `json:"key"`
}

func bootstrap(c *call) (answer, error) {
	if len(c.Users) > 0 {
		return answer{}, refuse(http.StatusForbidden, "the server is already bootstrapped")
	}
	in, err := decode[User](c)
	if err != nil {
		return answer{}, err
	}
	if in.Username == "" || in.Email == "" {
		return answer{}, refuse(http.StatusBadRequest, "username and email are required")
	}
	u := User{ID: c.next("user"), Username: in.Username, Email: in.Email}
	c.Users = append(c.Users, u)
	k, secret := c.mint(Key{UserID: u.ID})
	return answer{status: http.StatusCreated, body: map[string]any{
		"user": u, "api_key": issued{ID: k.ID, Name: "bootstrap", Key: secret},
	}}, nil
}

func listUsers(c *call) (answer, error) { return listed(c, c.Users) }

func listAccounts(c *call) (answer, error) {
	return listed(c, named(c, c.ServiceAccounts, func(a ServiceAccount) string { return a.Name }))
}

func createAccount(c *call) (answer, error) {
	in, err := decode[ServiceAccount](c)
	if err != nil {
		return answer{}, err
	}
	switch {
	case in.Name == "":
		return answer{}, refuse(http.StatusBadRequest, "name is required")
	case in.Scope == ScopeInstance && in.TeamID != 0:
		return answer{}, refuse(http.StatusBadRequest, "an instance-scoped service account has no team")
	case in.Scope == ScopeTeam && c.team(in.TeamID) == nil:
		return answer{}, refuse(http.StatusBadRequest, "there is no team %d", in.TeamID)
	case in.Scope != ScopeInstance && in.Scope != ScopeTeam:
		return answer{}, refuse(http.StatusBadRequest, "scope must be instance or team")
	}
	if old := find(c.ServiceAccounts, func(a *ServiceAccount) bool { return a.Name == in.Name }); old != nil {
		return answer{}, refuse(http.StatusConflict, "service account %d has this name", old.ID)
	}
	in.ID = c.next("service-account")
	c.ServiceAccounts = append(c.ServiceAccounts, in)
	k, secret := c.mint(Key{AccountID: in.ID})
	return answer{status: http.StatusCreated, body: struct {
		ServiceAccount

		Key issued `json:"key"`
	}{in, issued{ID: k.ID, Key: secret}}}, nil
}

// accountOf is the service account that the path names.
func (c *call) accountOf() (*ServiceAccount, error) {
	if a := c.account(id(c.r, "account")); a != nil {
		return a, nil
	}
	return nil, refuse(http.StatusNotFound, "there is no such service account")
}

func deleteAccount(c *call) (answer, error) {
	a, err := c.accountOf()
	if err != nil {
		return answer{}, err
	}
	c.dropAccount(a.ID)
	return answer{status: http.StatusNoContent}, nil
}

// dropAccount and its keys.
func (s *State) dropAccount(account int64) {
	s.ServiceAccounts = slices.DeleteFunc(s.ServiceAccounts, func(a ServiceAccount) bool { return a.ID == account })
	s.Keys = slices.DeleteFunc(s.Keys, func(k Key) bool { return k.AccountID == account })
}

func listKeys(c *call) (answer, error) {
	a, err := c.accountOf()
	if err != nil {
		return answer{}, err
	}
	type shown struct {
		ID      int64     `json:"id"`
		Created time.Time `json:"created_at"`
	}
	var keys []shown
	for _, k := range c.Keys {
		if k.AccountID == a.ID {
			keys = append(keys, shown{k.ID, k.Created})
		}
	}
	return listed(c, keys)
}

func createKey(c *call) (answer, error) {
	a, err := c.accountOf()
	if err != nil {
		return answer{}, err
	}
	k, secret := c.mint(Key{AccountID: a.ID})
	return answer{status: http.StatusCreated, body: issued{ID: k.ID, Key: secret}}, nil
}

func deleteKey(c *call) (answer, error) {
	a, err := c.accountOf()
	if err != nil {
		return answer{}, err
	}
	n := len(c.Keys)
	c.Keys = slices.DeleteFunc(c.Keys, func(k Key) bool { return k.AccountID == a.ID && k.ID == id(c.r, "id") })
	if len(c.Keys) == n {
		return answer{}, refuse(http.StatusNotFound, "there is no such key")
	}
	return answer{status: http.StatusNoContent}, nil
}
