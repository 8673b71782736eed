/** A release of the tag server's image (`gcr.io/cloud-tagging-10302018/gtm-cloud-image`). */
export interface ImageRelease {
  version: string
  /** The day that the release notes name, epoch ms at 00:00 UTC. */
  at: number
  /** By which hosts name an image that they have pinned; null where the notes give none. */
  digest: string | null
}

const release = (version: string, day: string, digest: string | null = null): ImageRelease => ({
  version,
  at: Date.parse(day),
  digest,
})

/** The day on which the table was compared with the release notes. */
export const KNOWN_UNTIL = Date.parse('2026-11-25')

/**
 * Every release that the notes list, oldest first. Source:
 * https://developers.google.com/tag-platform/tag-manager/server-side/release-notes
 *
 * They list no 4.1.0, and nothing before 1.0.0. A new one is one more line, with `KNOWN_UNTIL` moved on.
 */
export const RELEASES: readonly ImageRelease[] = [
  release('1.0.0', '2022-06-13'),
  release('1.1.0', '2022-08-25'),
  release('2.0.0', '2023-03-15'),
  release('2.1.0', '2023-03-16'),
  release('2.2.0', '2023-10-19'),
  release('2.3.0', '2024-02-20'),
  release('2.4.0', '2024-09-26'),
  release('3.0.0', '2025-05-15'),
  release('3.1.0', '2025-06-05'),
  release('3.2.0', '2025-09-02'),
  release('4.0.0', '2025-11-10'),
  release('4.2.0', '2026-02-02', '0f47d39232469cd54cb30c30a8e3b5c17d9bae0e19686ad387624ccabb2a10a7'),
  release('4.3.0', '2026-04-28', 'f04589802ffb44bcff0a367c749ce939c17af895888aef2278adda709def3e88'),
  release('4.4.0', '2026-07-22', '688d35c6c54473be42d5128befa4d98a722d76d6fdf9cb84d63b52a3f223a1e6'),
  release('4.5.0', '2026-10-08', '490cd41aad58406d44853ddc6f2be58c5d9a1d13bc75c8f92fee076891d6ed74'),
]
