/**
 * Builds the docs site with a part for each version: `node scripts/site-versions.ts`. The newest release is at the root, the checkout in
 * `next/`, and the newest patch of each earlier minor version in `v1.2/`. Before the first release there is only the checkout.
 *
 * Each release is built from its tag by its own script, so that its pages stay as they were; only the list of versions is today's. Tags
 * older than the site are left out.
 */
import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, mkdtempSync, renameSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { siteFaults } from './site-check.ts'

/** A part of the site. */
export interface PublishedVersion {
  /** Its name for readers. */
  name: string
  /** The tag it is built from; null for the checkout. */
  tag: string | null
  /** Its folder below the site's base, with a trailing slash; empty for the root. */
  folder: string
}

const RELEASE = /^v(\d+)\.(\d+)\.(\d+)$/

/** The parts of the site, newest release first. @param tags of the repository; those of pre-releases are ignored */
export function versionsToPublish(tags: readonly string[]): PublishedVersion[] {
  const newest = new Map<string, { tag: string; numbers: number[] }>()
  for (const tag of tags) {
    const [, major, minor, patch] = (RELEASE.exec(tag) ?? []).map(Number)
    if (major === undefined || minor === undefined || patch === undefined) continue
    const name = `v${major}.${minor}`
    if (patch >= (newest.get(name)?.numbers[2] ?? 0)) newest.set(name, { tag, numbers: [major, minor, patch] })
  }
  const releases = [...newest].sort(([, { numbers: a }], [, { numbers: b }]) => compare(b, a))
  if (releases.length === 0) return [{ name: 'next', tag: null, folder: '' }]
  return [
    ...releases.map(([name, { tag }], index) => ({ name, tag, folder: index === 0 ? '' : `${name}/` })),
    { name: 'next', tag: null, folder: 'next/' },
  ]
}

function compare(a: readonly number[], b: readonly number[]): number {
  for (const [place, number] of a.entries()) {
    const difference = number - (b[place] ?? 0)
    if (difference !== 0) return difference
  }
  return 0
}

const ROOT = join(import.meta.dirname, '..')
const DIST = join(ROOT, 'site/dist')

function buildAll(): void {
  const base = process.env.SITE_BASE ?? '/'
  const git = (...args: string[]) => execFileSync('git', args, { cwd: ROOT, encoding: 'utf8' })
  const hasSite = (tag: string) => git('ls-tree', '--name-only', tag, 'scripts/site.ts') !== ''
  const versions = versionsToPublish(
    git('tag', '--list')
      .split('\n')
      .filter((tag) => RELEASE.test(tag) && hasSite(tag)),
  )
  const work = mkdtempSync(join(tmpdir(), 'tagwarden-site-'))
  try {
    const whole = join(work, 'dist')
    for (const { name, tag, folder } of versions) {
      const tree = tag === null ? ROOT : join(work, name)
      if (tag !== null) {
        git('worktree', 'add', '--detach', tree, tag)
        // Its link check needs the packages.
        symlinkSync(join(ROOT, 'node_modules'), join(tree, 'node_modules'))
      }
      execFileSync(process.execPath, ['scripts/site.ts', 'build'], {
        cwd: tree,
        stdio: 'inherit',
        env: { ...process.env, SITE_BASE: base + folder, SITE_VERSIONS: JSON.stringify(listed(versions, base, name)) },
      })
      cpSync(join(tree, 'site/dist'), join(whole, folder), { recursive: true })
    }
    rmSync(DIST, { recursive: true, force: true })
    move(whole, DIST)
  } finally {
    rmSync(work, { recursive: true, force: true })
    git('worktree', 'prune')
  }
  const faults = siteFaults(DIST, base)
  for (const { page, problem } of faults) console.error(`${page}: ${problem}`)
  console.log(`${versions.map(({ name }) => name).join(', ')}: ${faults.length} dead links`)
  if (faults.length > 0) process.exitCode = 1
}

/** The version list in the navigation of the part `own`. Links need a host, because others are taken for pages of the same part. */
function listed(versions: readonly PublishedVersion[], base: string, own: string) {
  const origin = process.env.SITE_ORIGIN ?? 'http://localhost:4173'
  return {
    own,
    all: versions.map(({ name, folder }) => ({ name, url: `${origin}${base}${folder}` })),
  }
}

/** Moves a folder, also from another disk, where the temporary folder may be. */
function move(from: string, to: string): void {
  try {
    renameSync(from, to)
  } catch {
    cpSync(from, to, { recursive: true })
  }
}

if (import.meta.main) {
  if (!existsSync(join(ROOT, '.git')))
    throw new Error('the versions are the tags of the git repository, and this is none')
  buildAll()
}
