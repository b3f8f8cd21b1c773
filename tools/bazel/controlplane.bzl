"""etcd, kube-apiserver, kube-controller-manager and the common snapshot controller as inputs of tests.

They are those of `go test`: found in the cache or built there once from the Go modules below e2e/devcluster.
"""

# Inputs of every test that starts a control plane: the servers, the module's root, the CRDs and the controllers' roles. They
# are data of //shared/testkit/cluster, so a test has them by depending on that.
CONTROL_PLANE = [
    "@controlplane//:etcd",
    "@controlplane//:servers",
    "//:module",
    "//crds:manifests",
    "//api-gateway:deploy",
    "//attach-controller:deploy",
    "//disk-controller:deploy",
    "//im-monitor:deploy",
    "//orphan-controller:deploy",
    "//snapshot-controller:deploy",
    "//upgrade-controller:deploy",
]

# The binaries of an end-to-end test; data of //e2e/world.
BINARIES = [
    "//api-gateway",
    "//attach-controller",
    "//disk-controller",
    "//im-monitor",
    "//im-monitor/simulator",
    "//orphan-controller",
    "//snapshot-controller",
    "//upgrade-controller",
]

# Where etcd is among the runfiles; the other servers are beside it.
ETCD = "$(rlocationpath @controlplane//:etcd)"

# The files in the directories that `e2e/cluster build` prints, one a line.
_SERVERS = ["etcd", "kube-apiserver", "kube-controller-manager"]
_SNAPSHOTTER = ["common-snapshot-controller", "snapshot-crds"]

def _servers_impl(rctx):
    root = rctx.path(Label("//:go.mod")).dirname
    for name in ["go.mod", "go.sum", "snapshotter/go.mod", "snapshotter/go.sum"]:
        rctx.path(Label("//:e2e/devcluster/" + name))
    go = rctx.which("go")
    if not go:
        fail("go is not in PATH: the control plane of the tests is built with it")
    rctx.report_progress("finding or building etcd and kube-apiserver; the first time takes minutes")
    built = rctx.execute(
        [go, "run", "./e2e/cluster", "build", "--controller-manager", "--snapshotter"],
        working_directory = str(root),
        environment = {"CGO_ENABLED": "0"},
        timeout = 3600,
        quiet = False,
    )
    if built.return_code != 0:
        fail("building the control plane:\n" + built.stderr)
    for directory, names in zip(built.stdout.strip().split("\n"), [_SERVERS, _SNAPSHOTTER]):
        for name in names:
            source = rctx.path(directory).get_child(name)
            if not source.exists:
                fail("there is no " + str(source))
            rctx.symlink(source, name)
    rctx.file("BUILD.bazel", """
exports_files(["etcd"])

filegroup(
    name = "servers",
    srcs = {} + glob(["snapshot-crds/**"]),
    visibility = ["//visibility:public"],
)
""".format(repr(_SERVERS + ["common-snapshot-controller"])))

# Local: each Bazel server checks again, because the cache may have been emptied.
_servers = repository_rule(
    implementation = _servers_impl,
    environ = [
        "KUBEBUILDER_ASSETS",
        "XDG_CACHE_HOME",
    ],
    local = True,
)

def _extension_impl(_ctx):
    _servers(name = "controlplane")

controlplane = module_extension(implementation = _extension_impl)
