import { execFileSync, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'
import { lintTemplate, parseTemplate } from '../tag/sandbox/index.ts'

export interface Version {
  sha: string
  changeNotes: string
}

export interface Metadata {
  homepage: string
  documentation: string
  versions: Version[]
}

/** Hash of the text at apache.org/licenses/LICENSE-2.0.txt. The gallery has delisted a template whose licence differed. */
const APACHE_SHA256 = 'cfc7749b96f63bd31c3c42b5c471bf756814053e847c10f3eb003417bc523d30'
const FILES = ['LICENSE', 'README.md', 'metadata.yaml', 'template.tpl']

/** Runs git in `folder`. Throws with what git says when it fails. */
export function git(folder: string, ...args: string[]): string {
  return execFileSync('git', args, { cwd: folder, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }).trimEnd()
}

const succeeds = (folder: string, ...args: string[]): boolean => spawnSync('git', args, { cwd: folder }).status === 0

export const readMetadata = (text: string): Metadata => {
  const value = parse(text) as Partial<Metadata> | null
  return { homepage: '', documentation: '', ...value, versions: value?.versions ?? [] }
}

/**
 * What the Community Template Gallery would refuse in a repository, one line each, because it reports faults neither soon nor clearly.
 * Rules about the default branch are checked on the current branch.
 */
export function galleryFaults(folder: string): string[] {
  const tracked = git(folder, 'ls-files').split('\n')
  const missing = FILES.filter((file) => !tracked.includes(file))
  if (missing.length > 0) return missing.map((file) => `${file} is not committed at the root, in this spelling`)
  const read = (file: string) => readFileSync(join(folder, file), 'utf8')
  return [
    ...treeFaults(folder, tracked),
    ...licenceFaults(read('LICENSE')),
    ...metadataFaults(read('metadata.yaml')),
    ...versionFaults(folder, readMetadata(read('metadata.yaml')).versions),
    ...templateFaults(read('template.tpl')),
  ]
}

function treeFaults(folder: string, tracked: readonly string[]): string[] {
  const others = tracked.filter((file) => file.endsWith('.tpl') && file !== 'template.tpl')
  return [
    ...others.map((file) => `${file}: a repository holds one template, template.tpl`),
    ...(git(folder, 'status', '--porcelain') === '' ? [] : ['there are changes that are not committed']),
  ]
}

export const licenceFaults = (text: string): string[] =>
  createHash('sha256').update(text).digest('hex') === APACHE_SHA256
    ? []
    : ['LICENSE has to be the text of the Apache License 2.0 and nothing else']

function metadataFaults(text: string): string[] {
  const metadata = readMetadata(text)
  return [
    ...(['homepage', 'documentation'] as const).flatMap((field) => addressFaults(field, metadata[field])),
    ...(metadata.versions.length > 0 ? [] : ['metadata.yaml: versions is empty']),
    ...(/^versions:\n {2}# Latest version\n {2}- sha:/m.test(text)
      ? []
      : ['metadata.yaml: "# Latest version" has to stand above the first version']),
  ]
}

/** Names reserved for examples (RFC 2606), which this project's own metadata.yaml contains, are not real addresses. */
function addressFaults(field: string, address: unknown): string[] {
  if (typeof address !== 'string' || !URL.canParse(address) || !address.startsWith('https://')) {
    return [`metadata.yaml: ${field} has to be an https address`]
  }
  const isExample = /(^|\.)example(\.com|\.org|\.net)?$/.test(new URL(address).hostname)
  return isExample ? [`metadata.yaml: ${field} is an example; give the real address with --${field}`] : []
}

function versionFaults(folder: string, versions: readonly Version[]): string[] {
  const faults = versions.flatMap(({ sha, changeNotes }, index) => {
    const at = `metadata.yaml: versions[${index}]`
    if (typeof changeNotes !== 'string' || changeNotes.trim() === '') return [`${at} has no changeNotes`]
    if (!/^[0-9a-f]{40}$/.test(String(sha))) return [`${at}.sha is not a commit of 40 hex digits`]
    if (!succeeds(folder, 'merge-base', '--is-ancestor', sha, 'HEAD')) return [`${at}.sha is not on this branch`]
    if (!succeeds(folder, 'cat-file', '-e', `${sha}:template.tpl`)) return [`${at}.sha has no template.tpl`]
    const newer = versions[index - 1]
    const isOlder = newer === undefined || succeeds(folder, 'merge-base', '--is-ancestor', sha, newer.sha)
    return isOlder ? [] : [`${at} is not older than the version above it`]
  })
  const latest = versions[0]
  if (faults.length > 0 || latest === undefined) return faults
  const isPublished = succeeds(folder, 'diff', '--quiet', latest.sha, 'HEAD', '--', 'template.tpl')
  return isPublished ? [] : ['metadata.yaml: the latest version is not the template of this commit']
}

export function templateFaults(text: string): string[] {
  const order = [...text.matchAll(/^___[A-Z_]+___$/gm)].map(([marker]) => marker)
  const isAgreed = order[0] === '___TERMS_OF_SERVICE___'
  return [...(isAgreed ? [] : ['template.tpl does not begin with ___TERMS_OF_SERVICE___']), ...lintFaults(text)]
}

let linted: { text: string; faults: string[] } | undefined

/** Cached, because laying out checks the template twice, and each check takes half a second. */
function lintFaults(text: string): string[] {
  if (linted?.text === text) return linted.faults
  const faults = lintTemplate(parseTemplate(text)).map(({ line, message }) => `template.tpl:${line}: ${message}`)
  linted = { text, faults }
  return faults
}
