/** The address of a script, frame or preload that shows a provider: by host, path, or both. */
export interface UrlSign {
  /** E.g. `consent.cookiebot.com`; `*.example.com` is example.com and all names under it. Undefined: any host. */
  readonly host?: string
  /** Matches the path only; undefined: any path. It is tested on text by strangers, so no repeated parts may overlap (slow matching). */
  readonly path?: RegExp | ((path: string) => boolean)
  /** Additional condition: how the path ends. */
  readonly ends?: string
}

/** A consent management platform, and how pages show that they use it. */
export interface Provider {
  /** The value of `cmp_provider`, which is compared without case, spaces and punctuation. */
  readonly id: string
  readonly name: string
  readonly aliases?: readonly string[]
  readonly urls: readonly UrlSign[]
  /** Identifiers that only its installation snippet has in an inline script. Identifiers that other scripts check for are left out. */
  readonly setup?: readonly string[]
  /** Ids and classes (`#id`, `.class`) and attributes (`[name]`) in the page before any script has run. */
  readonly elements?: readonly string[]
  /** The same, of links and places that people put into their pages by hand: they stay when the platform is gone. */
  readonly leftovers?: readonly string[]
  /** It can set Google's consent defaults itself, so they need not be in the page. */
  readonly setsConsentMode?: true
  /** Often comes with another provider, e.g. with ads, without being a second banner. */
  readonly isCompanion?: true
}
