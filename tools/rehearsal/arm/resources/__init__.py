"""Microsoft.Resources and Microsoft.Features: subscriptions, groups, registrations."""
