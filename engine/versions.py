"""Which Pulumi this project runs on."""

# The version that is fetched or built, and on which the tests run.
PULUMI = "3.259.0"

# The oldest `pulumi` that is taken from PATH. It is the same version: the program, the policy
# pack and the provider are tried out with this one, and what an older engine does with them has
# not been seen by anyone.
LOWEST_PULUMI = PULUMI

# What a cluster of the rehearsal consists of. The Go modules of `kubernetes_source/` are the same.
KUBERNETES = "1.36.1"
ETCD = "3.6.8"
KWOK = "0.8.0"

# What the workflows are checked with; the Go module of `actionlint_source/` is the same.
ACTIONLINT = "1.7.12"
