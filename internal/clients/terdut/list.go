package terdut

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
)

const (
	// maxPages and maxItems bound a list. Beyond them it is an error, because what was not read is not absent.
	maxPages = 1000
	maxItems = 100_000
)

// An item of a list.
type item interface{ id() int64 }

// list reads all pages of a list (s): each is a JSON array, and names the next one in a Link header with rel="next", RFC 8288. Of that
// only the query is used, so that no server can send the key elsewhere.
func list[T item](ctx context.Context, c *Client, r request) ([]T, error) {
	var all []T
	seen := map[int64]bool{}
	for range maxPages {
		a, err := c.send(ctx, r)
		if err != nil {
			return nil, err
		}
		var page []T
		if err := r.decode(a, &page); err != nil {
			return nil, err
		}
		for _, v := range page {
			switch {
			case v.id() <= 0:
				return nil, r.foreign(a, "an item of the list has no id")
			case seen[v.id()]:
				// Another may have been missed in its place.
				return nil, r.error(ReasonUnavailable, "the list changed while it was read")
			}
			seen[v.id()] = true
		}
		all = append(all, page...)
		next, err := c.nextPage(r, a)
		if err != nil || next == nil {
			return all, err
		}
		if len(all) > maxItems {
			break
		}
		r.query = next
	}
	return nil, r.error(ReasonNotAPI, "the list does not end")
}

// nextPage is the query of the next page, or nil.
func (c *Client) nextPage(r request, a *answer) (url.Values, error) {
	for _, h := range a.header.Values("Link") {
		for link := range strings.SplitSeq(h, ",") {
			target, params, _ := strings.Cut(strings.TrimSpace(link), ">")
			if !isNext(params) {
				continue
			}
			here := c.base.JoinPath(r.path)
			u, err := here.Parse(strings.TrimPrefix(target, "<"))
			if err != nil || !strings.HasSuffix(u.Path, r.path) {
				return nil, r.foreign(a, "the next page of the list is elsewhere")
			}
			return u.Query(), nil
		}
	}
	return nil, nil
}

func isNext(params string) bool {
	for p := range strings.SplitSeq(params, ";") {
		name, value, _ := strings.Cut(strings.TrimSpace(p), "=")
		if strings.EqualFold(name, "rel") && strings.EqualFold(strings.Trim(value, `"`), "next") {
			return true
		}
	}
	return false
}

// named returns the one item of that name, or nil. The server is asked for the name, and what it finds is compared again: some search
// for what starts with it.
func named[T item](ctx context.Context, c *Client, r request, name string, nameOf func(T) string) (*T, error) {
	r.method, r.query = http.MethodGet, url.Values{"name": {name}}
	all, err := list[T](ctx, c, r)
	if err != nil {
		return nil, err
	}
	var found *T
	for i := range all {
		switch {
		case nameOf(all[i]) != name:
		case found != nil:
			return nil, r.error(ReasonAmbiguous, fmt.Sprintf("%d and %d are both called %q", min((*found).id(), all[i].id()), max((*found).id(), all[i].id()), name))
		default:
			found = &all[i]
		}
	}
	return found, nil
}
