package model

import (
	"flag"
	"strings"
	"testing"
)

func TestSearch(t *testing.T) {
	for _, r := range withouts() {
		if *only != "" && !strings.Contains(*only, r.name) {
			continue
		}
		bad := map[string]int{}
		first := map[string]uint64{}
		for seed := range uint64(*worlds) {
			if got := Play(seed, r.rules, false); got.Broken != "" {
				bad[got.Broken]++
				if _, ok := first[got.Broken]; !ok {
					first[got.Broken] = seed
				}
			}
		}
		t.Logf("%s: %v %v", r.name, bad, first)
	}
}

var only = flag.String("only", "", "")
