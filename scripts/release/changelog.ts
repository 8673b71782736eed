/** The section of a release in the changelog. */
export interface Section {
  /** `2026-12-01` */
  date: string
  body: string
}

const HEADING = /^## \[(\d+\.\d+\.\d+)\] - (\d{4}-\d\d-\d\d)$/gm
const UNRELEASED = '## [Unreleased]'

/** The section of a version; null when it has no heading. */
export function sectionOf(changelog: string, version: string): Section | null {
  const headings = [...changelog.matchAll(HEADING)]
  const at = headings.findIndex(([, named]) => named === version)
  const [heading, next] = [headings[at], headings[at + 1]]
  if (heading === undefined) return null
  const body = changelog.slice(heading.index + heading[0].length, next?.index ?? changelog.length)
  return { date: heading[2] ?? '', body: body.trim() }
}

/**
 * Puts the unreleased changes under the heading of a version, and leaves an empty "Unreleased" section.
 *
 * @throws Error when there is nothing to release, or the version has a heading already
 */
export function release(changelog: string, version: string, date: string): string {
  if (sectionOf(changelog, version) !== null) throw new Error(`CHANGELOG.md has a heading for ${version} already`)
  const [before, after, ...others] = changelog.split(`${UNRELEASED}\n`)
  if (before === undefined || after === undefined || others.length > 0) {
    throw new Error(`CHANGELOG.md needs one heading "${UNRELEASED}"`)
  }
  const next = after.search(/^## /m)
  if ((next === -1 ? after : after.slice(0, next)).trim() === '')
    throw new Error('nothing is unreleased in CHANGELOG.md')
  return `${before}${UNRELEASED}\n\n## [${version}] - ${date}\n${after}`
}
