package runkit

import "github.com/spf13/pflag"

// RenamedFlag lets a flag that got another name be given by its old one, too, for one minor version. The old name is not in the help; who
// uses it is told the new one. The flag must be registered by its new name before.
func RenamedFlag(flags *pflag.FlagSet, old, name string) {
	flag := flags.Lookup(name)
	flags.Var(flag.Value, old, flag.Usage)
	flags.Lookup(old).Deprecated = "use --" + name
	flags.Lookup(old).Hidden = true
}
