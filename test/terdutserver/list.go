package terdutserver

import (
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
)

// listed answers with a list, in the order and the pages that the modes want. A shuffled order holds for all pages of a list.
func listed[T any](c *call, list []T) (answer, error) {
	list = append([]T{}, list...) // An empty list is [] and not null.
	q := c.r.URL.Query()
	if c.modes.Shuffle {
		seed, err := strconv.ParseUint(q.Get("seed"), 10, 64)
		if err != nil {
			seed = rand.Uint64()
			q.Set("seed", strconv.FormatUint(seed, 10))
		}
		shuffle(rand.New(rand.NewPCG(seed, 0)), list)
	}
	a := answer{status: http.StatusOK, body: list}
	size := c.modes.PageSize
	if size <= 0 {
		return a, nil
	}
	page, err := strconv.Atoi(q.Get("page"))
	if err != nil || page < 1 {
		page = 1
	}
	from := min((page-1)*size, len(list))
	to := min(from+size, len(list))
	a.body = list[from:to]
	if to < len(list) {
		q.Set("page", strconv.Itoa(page+1))
		a.next = c.r.URL.Path + "?" + q.Encode()
	}
	return a, nil
}

func shuffle[T any](r *rand.Rand, list []T) {
	r.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
}

// shuffled policy: levels carry their position, and targets of a level have no order.
func shuffled(p Policy) Policy {
	r := rand.New(rand.NewPCG(rand.Uint64(), 0))
	p.Levels = slices.Clone(p.Levels)
	for i := range p.Levels {
		p.Levels[i].Targets = slices.Clone(p.Levels[i].Targets)
		shuffle(r, p.Levels[i].Targets)
	}
	shuffle(r, p.Levels)
	return p
}
