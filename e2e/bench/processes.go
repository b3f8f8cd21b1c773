package main

import (
	"drover.dev/drover/e2e/world"
)

// measured are the flags of measured controllers: they log, and poll, as in production. A World's shorter intervals would poll engines ten
// times as often.
func measured() map[string][]string {
	flags := map[string][]string{}
	for _, controller := range world.EveryController() {
		flags[controller] = []string{"--log-level=info", "--log-format=json"}
	}
	return flags
}

// used are the processor seconds of the World's controllers: of their processes with that suffix.
func used(w *world.World, suffix string) (map[string]float64, error) {
	return ofEach(w, suffix, func(p *world.Process) (float64, error) {
		processor, err := p.Processor()
		return processor.Seconds(), err
	})
}

// megabytes are a figure of memory of the World's controllers: of their processes with that suffix.
func megabytes(w *world.World, suffix string, figure func(*world.Process) (int64, error)) (map[string]float64, error) {
	return ofEach(w, suffix, func(p *world.Process) (float64, error) {
		bytes, err := figure(p)
		return float64(bytes) / 1e6, err
	})
}

func ofEach(w *world.World, suffix string, figure func(*world.Process) (float64, error)) (map[string]float64, error) {
	out := map[string]float64{}
	for _, controller := range w.Controllers() {
		value, err := figure(w.Process(controller + suffix))
		if err != nil {
			return nil, err
		}
		out[controller] = value
	}
	return out, nil
}
