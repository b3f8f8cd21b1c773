package model

import (
	"flag"
	"testing"
)

var worlds = flag.Int("worlds", 500, "how many random worlds are played")

func TestEveryWorldSettles(t *testing.T) {
	count := map[string]int{}
	example := map[string]uint64{}
	for seed := range uint64(*worlds) {
		if got := Play(seed, AllRules, false); got.Broken != "" {
			count[got.Broken]++
			if _, ok := example[got.Broken]; !ok {
				example[got.Broken] = seed
			}
		}
	}
	for what, n := range count {
		t.Errorf("%d worlds, as %d: %s", n, example[what], what)
	}
}

var one = flag.Int("one", -1, "the seed of a world to be told")

func TestOne(t *testing.T) {
	for _, line := range Play(uint64(*one), AllRules, true).Log {
		t.Log(line)
	}
}
