package resolver

// Reason names an outcome or a note. The set is closed, and the same name is used in admission responses, conditions,
// metrics, command line output and documentation anchors.
type Reason string

// Resolved is the reason of a verdict that resolved.
const Resolved Reason = "Resolved"

// Reasons of failures. Each has a page in docs/reasons.md.
const (
	// MissingCatalogSource: the extension has no spec.source.catalog, or no package name in it.
	MissingCatalogSource Reason = "MissingCatalogSource"
	// InvalidSelector: the catalog selector cannot be read.
	InvalidSelector Reason = "InvalidSelector"
	// InvalidVersionRange: the version range cannot be read.
	InvalidVersionRange Reason = "InvalidVersionRange"
	// InvalidInstalledVersion: the version or release in status.install.bundle cannot be read.
	InvalidInstalledVersion Reason = "InvalidInstalledVersion"
	// NoCatalogsSelected: no available catalog is selected.
	NoCatalogsSelected Reason = "NoCatalogsSelected"
	// PackageNotFound: no selected catalog contains the package.
	PackageNotFound Reason = "PackageNotFound"
	// AmbiguousCatalogs: several catalogs of one priority could supply the package.
	AmbiguousCatalogs Reason = "AmbiguousCatalogs"
	// ChannelNotFound: none of the requested channels exists.
	ChannelNotFound Reason = "ChannelNotFound"
	// NoMatchingChannel: the requested channels hold no bundle that qualifies, others do.
	NoMatchingChannel Reason = "NoMatchingChannel"
	// NoMatchingVersion: no bundle's version is in the range.
	NoMatchingVersion Reason = "NoMatchingVersion"
	// NoUpgradePath: bundles match, but no upgrade edge leads to one from the installed bundle.
	NoUpgradePath Reason = "NoUpgradePath"
	// NoMatchingBundle: nothing qualifies, and no constraint or pair of constraints alone is to blame.
	NoMatchingBundle Reason = "NoMatchingBundle"
)

// CatalogContentUnavailable is the reason of an undecided verdict, and a note on a failure that is certain without
// the missing content.
const CatalogContentUnavailable Reason = "CatalogContentUnavailable"

// Notes: things that a person should know about a verdict, whatever its outcome.
const (
	// CatalogContentOutdated: the content at hand is older than what the catalog's status reports.
	CatalogContentOutdated Reason = "CatalogContentOutdated"
	// CatalogNotServing: a considered catalog does not serve, and released operator-controllers wait for it.
	CatalogNotServing Reason = "CatalogNotServing"
	// InstalledStateUnknown: it is not known what is installed, so upgrade edges were not judged.
	InstalledStateUnknown Reason = "InstalledStateUnknown"
	// PackageDeprecated: the package is deprecated in the selected catalog.
	PackageDeprecated Reason = "PackageDeprecated"
	// ChannelDeprecated: a requested channel, or every channel of the chosen bundle, is deprecated.
	ChannelDeprecated Reason = "ChannelDeprecated"
	// BundleDeprecated: the chosen bundle is deprecated.
	BundleDeprecated Reason = "BundleDeprecated"
	// SomeChannelsNotFound: some requested channels do not exist, others do.
	SomeChannelsNotFound Reason = "SomeChannelsNotFound"
	// PrereleaseSelected: no version was asked for, and the choice is a prerelease.
	PrereleaseSelected Reason = "PrereleaseSelected"
	// MajorJump: neither version nor channels were asked for, and the choice is of another major version than the head
	// of the default channel.
	MajorJump Reason = "MajorJump"
	// ReleasePinIgnored: the range carries build metadata, which takes no part in matching.
	ReleasePinIgnored Reason = "ReleasePinIgnored"
	// UnsatisfiableRange: no version at all can be in the range.
	UnsatisfiableRange Reason = "UnsatisfiableRange"
	// UpgradeConstraintsIgnored: SelfCertified allowed a version that no edge reaches, or a downgrade.
	UpgradeConstraintsIgnored Reason = "UpgradeConstraintsIgnored"
	// SelectionDiffers: the other selection rule answers differently.
	SelectionDiffers Reason = "SelectionDiffers"
	// DuplicateVersion: other candidates have the version and release of the chosen one.
	DuplicateVersion Reason = "DuplicateVersion"
	// InvalidBundleVersion: bundles without a usable version take no part.
	InvalidBundleVersion Reason = "InvalidBundleVersion"
	// InvalidSkipRange: skipRanges that do not parse are no edges.
	InvalidSkipRange Reason = "InvalidSkipRange"
	// DependenciesDeclared: the chosen bundle declares dependencies, which operator-controller refuses.
	DependenciesDeclared Reason = "DependenciesDeclared"
	// InstallModeUnsupported: the chosen bundle does not support all namespaces, which operator-controller needs.
	InstallModeUnsupported Reason = "InstallModeUnsupported"
)

// Failures are the reasons of failed verdicts, in the order in which the documentation lists them.
func Failures() []Reason {
	return []Reason{
		MissingCatalogSource, InvalidSelector, InvalidVersionRange, InvalidInstalledVersion, NoCatalogsSelected,
		PackageNotFound, AmbiguousCatalogs, ChannelNotFound, NoMatchingChannel, NoMatchingVersion, NoUpgradePath,
		NoMatchingBundle,
	}
}

// Notes are the reasons of notes, the most severe first. This is the order in which doors that have little room show
// them.
func Notes() []Reason {
	return []Reason{
		SelectionDiffers, CatalogContentUnavailable, CatalogNotServing, DependenciesDeclared, InstallModeUnsupported,
		UpgradeConstraintsIgnored, BundleDeprecated, ChannelDeprecated, PackageDeprecated, MajorJump,
		PrereleaseSelected, UnsatisfiableRange, ReleasePinIgnored, SomeChannelsNotFound, InstalledStateUnknown,
		CatalogContentOutdated, DuplicateVersion, InvalidSkipRange, InvalidBundleVersion,
	}
}
