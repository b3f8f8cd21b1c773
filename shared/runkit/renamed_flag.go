package runkit

import "github.com/spf13/pflag"

// RenamedFlag accepts a renamed flag by its old name, too, for one minor version. The old name is not in the help; using
// it logs the new one. The flag must be registered by its new name before.
func RenamedFlag(flags *pflag.FlagSet, old, name string) {
	flag := flags.Lookup(name)
	flags.Var(flag.Value, old, flag.Usage)
	flags.Lookup(old).Deprecated = "use --" + name
	flags.Lookup(old).Hidden = true
}
