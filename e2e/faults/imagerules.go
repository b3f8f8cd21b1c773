package main

// imageRules make a pod as its image needs it, and begin an upgrade only if both images allow it.
func imageRules() []rule {
	const images, client, fit = "./shared/managerimage", "./im-monitor/internal/imclient", "./shared/upgrade/preflight"
	const shell = "./im-monitor/internal/shelltest"
	own, managers, upgrades := []string{images}, []string{managerCore}, []string{fit}
	return []rule{
		in("image without frontends", "an image without engine frontends starts no v2 data engine", own, images, "release.profile",
			"return Refused", "return Direct"),
		in("image of no release", "an image whose tag names no release starts with the script that every image has", own, images, "Describe",
			"Profile: Direct}", "Profile: Wrapper}"),
		in("image candidates", "the first candidates of 1.12.1 get no option for small pools", own, images, "release.profile",
			"return WrapperWithoutSmallPool", "return Wrapper"),
		in("image builds", "a build in development that may lack options starts with the script that every image has", own, images,
			"release.profile", "r.stage == development && (r.is(1, 12, 1) || r.build <= lastDirectBuild)", "false"),
		in("image declared", "the operator's profile of an image counts more than its tag", own, images, "Describe",
			"out.Profile, out.Refusal = profile, \"\"", "out.Refusal = \"\""),
		in("image cores", "an image that takes a number of cores gets no mask", own, images, "Profile.V2Arguments", `mask = ""`,
			"mask = o.CPUMask"),
		in("image options", "no option is passed that the image may not know", own, images, "Profile.pools",
			"leftOut = append(leftOut, setting)", "options = append(options, option, strconv.Itoa(wanted))"),
		in("image settings named", "a setting that the image has no option for is named", own, images, "Options.wrapperSettings", "",
			"return nil"),
		in("image check", "the check of an image looks for each option that its profile may use", own, images, "Profile.CheckArguments",
			"if p == Wrapper {", "if false {"),
		in("image devices", "it is known which pods take the block devices of their node along", own, images, "release.removesDevices", "",
			"return false"),
		in("image TLS", "images before 1.12.1 speak TLS on two ports", own, images, "release.tls", "return TLSProxyAndInstances",
			"return TLSEverywhere"),
		in("plaintext by port", "the ports without TLS of an image are called in plaintext", []string{client}, client, "Dialer.transport",
			"case ports == managerimage.TLSProxyAndInstances, unknown &&", "case unknown &&"),
		in("TLS required", "no port is called in plaintext if TLS is required", []string{client}, client, "Dialer.transport",
			"case ports == managerimage.TLSProxyAndInstances && d.options.RequireTLS:", "case false:"),
		in("plaintext allowed", "a server of unknown release is called in plaintext only if the operator allows it", []string{client}, client,
			"Dialer.transport", "case unknown && d.options.PlaintextOfUnknown:", "case unknown:").
			and(client, "Dialer.transport", "unknown && unencrypted && d.options.PlaintextOfUnknown", "unknown && unencrypted"),
		in("image of its own", "the arguments of a pod follow the image of its InstanceManager", managers, managerCore, "World.image",
			"w.InstanceManager.Spec.Image", "w.Settings.Image"),
		in("image refused", "no v2 pod is made of an image that is refused", managers, managerCore, "refusal",
			`case w.v2() && image.Refusal != "":`, `case false && image.Refusal != "":`),
		in("network refused", "no pod is made while a storage network is set", managers, managerCore, "refusal",
			`case w.Settings.Pods.StorageNetwork != "":`, "case false:"),
		in("devices kept", "an upgrade does not end a pod that would take the block devices of its node along", managers, managerCore,
			"World.takesDevices", "", `return ""`),
		in("UnfitImage refused", "no upgrade begins to an image that is refused for v2", upgrades, fit, "unfitImage", `if next.Refusal != "" {`,
			"if false {"),
		in("UnfitImage older", "no upgrade begins to an older image", upgrades, fit, "unfitImage", "case next.OlderThan(last):", "case false:"),
		in("UnfitImage devices", "no upgrade begins under devices that the old pod would take along", upgrades, fit, "unfitImage",
			"case last.RemovesDevices && len(w.Cluster.On(w.Node)) > 0:", "case false:"),
		in("logs of each run", "each run of a server is asked what to log", []string{shell + " -run=TestAServer"},
			"./im-monitor/internal/instancemanagercontroller", "reconciler.setLogs", "asked.run != server.Run() || ", ""),
		in("logs once", "a server is not asked again what to log", []string{shell + " -run=TestAServer"},
			"./im-monitor/internal/instancemanagercontroller", "reconciler.setLogs", "asked.done, asked.problem", "_, asked.problem"),
		in("ends again", "the deletion of a v1 process that does not end is requested again", []string{instanceCore}, instanceCore, "endAgain",
			"", "return v"),
	}
}
