package world

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"drover.dev/drover/shared/api/v1beta2"
)

// The environment variables by which `make real` names the binaries of real servers. Without them a World has the simulator.
const (
	RealInstanceManager = "DROVER_REAL_INSTANCE_MANAGER"
	RealEngine          = "DROVER_REAL_ENGINE"
)

// RealNodesBinary runs real instance managers in the place of the simulator, and answers the same control endpoint.
const RealNodesBinary = "realnodes"

// NotServed begins the error of what a scenario asks for and real servers on this machine do not have. `make real` lists a scenario that ends with
// this error as not run.
const NotServed = "not served by real servers"

// served is an error unless Worlds have the data engine.
func served(dataEngine string) error {
	if !slices.Contains(DataEngines(), dataEngine) {
		return fmt.Errorf("%s: the %s data engine, which needs SPDK", NotServed, dataEngine)
	}
	return nil
}

// IsReal reports whether Worlds have real instance managers.
func IsReal() bool { return os.Getenv(RealInstanceManager) != "" }

// DataEngines lists the data engines of Worlds: v2 needs SPDK, which real servers have none of here.
func DataEngines() []string {
	if IsReal() {
		return []string{v1beta2.DataEngineV1}
	}
	return []string{v1beta2.DataEngineV1, v1beta2.DataEngineV2}
}

// FullDataEngine is the data engine whose volumes have the most objects: v2 with its frontends, where there is v2.
func FullDataEngine() string {
	engines := DataEngines()
	return engines[len(engines)-1]
}

// dataPlaneBinary is the program that has the instance managers of a World.
func dataPlaneBinary() string {
	if IsReal() {
		return RealNodesBinary
	}
	return SimulatorBinary
}

// dataPlaneFlags are the flags of that program that only it has. Real servers behave as they do, whatever a simulator is to do.
func (w *World) dataPlaneFlags() []string {
	switch {
	case !IsReal() && w.options.Disks:
		return append([]string{"--hosts", w.nodesDirectory()}, w.options.SimulatorArgs...)
	case !IsReal():
		return w.options.SimulatorArgs
	}
	return []string{"--instance-manager", os.Getenv(RealInstanceManager), "--engine", os.Getenv(RealEngine),
		"--directory", w.nodesDirectory(), fmt.Sprintf("--leave-disks=%t", w.options.Disks)}
}

// nodesDirectory returns the directory with the files of all nodes.
func (w *World) nodesDirectory() string { return filepath.Join(w.Dir, "nodes") }

// engineBinaries makes the directory in which snapshot-controller finds the binary of the default engine image: a real engine, or the
// simulator, which answers as an engine if it is called by that name.
func (w *World) engineBinaries() (string, error) {
	directory := filepath.Join(w.Dir, "engine-binaries")
	at := filepath.Join(directory, v1beta2.EngineBinaryDirectory(EngineImage))
	if err := os.MkdirAll(at, 0o755); err != nil {
		return "", fmt.Errorf("making the directory of engine binaries: %w", err)
	}
	engine := filepath.Join(w.Dir, SimulatorBinary)
	if IsReal() {
		engine = os.Getenv(RealEngine)
	}
	if err := os.Symlink(engine, filepath.Join(at, "longhorn")); err != nil && !errors.Is(err, fs.ErrExist) {
		return "", fmt.Errorf("linking the engine's binary: %w", err)
	}
	return directory, nil
}

// managers is how many instance managers a World has.
func (w *World) managers() int { return len(DataEngines()) * len(w.options.Nodes) }

// v2Enabled is the value of the setting v2-data-engine.
func v2Enabled() string { return strconv.FormatBool(len(DataEngines()) > 1) }
