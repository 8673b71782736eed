import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitepress'
import { emptyHeadsAreCells, linksLeavingTheDocs, withoutTitle } from './markdown.ts'
import { resolvesFromHere } from './resolve.ts'
import { githubSlug } from './slug.ts'

const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
  version: string
}

/** Where the sources are: `https://github.com/owner/name`. Without it, links to files outside the docs are words. */
const repository = process.env.SITE_REPOSITORY ?? null

/** The versions of a site that has several, and which of them this is (see `scripts/site-versions.ts`). */
const versions = JSON.parse(process.env.SITE_VERSIONS ?? 'null') as {
  own: string
  all: { name: string; url: string }[]
} | null

export default defineConfig({
  title: 'Tagwarden',
  description: 'Watches server-side tag manager containers and says within minutes when a tag breaks.',
  lang: 'en-GB',
  // Pages of a project live in a folder of their host.
  base: process.env.SITE_BASE ?? '/',
  srcDir: '../docs',
  outDir: './dist',
  cacheDir: './.cache',
  vite: {
    plugins: [resolvesFromHere()],
    resolve: {
      alias: [
        { find: /^.*\/VPHome\.vue$/, replacement: fileURLToPath(new URL('theme/HomePage.vue', import.meta.url)) },
      ],
    },
  },
  // What is not opened costs nothing.
  router: { prefetchLinks: false },
  markdown: {
    // The usual pair is too pale on the ground of code blocks.
    theme: { light: 'github-light-high-contrast', dark: 'github-dark-high-contrast' },
    anchor: { slugify: githubSlug },
    image: { lazyLoading: true },
    config(md) {
      linksLeavingTheDocs(md, repository)
      withoutTitle(md, 'index.md')
      emptyHeadsAreCells(md)
    },
  },
  // The first page is text on GitHub, and has a stage here.
  transformPageData(page) {
    if (page.relativePath !== 'index.md') return
    page.frontmatter = { ...page.frontmatter, ...HOME }
  },
  themeConfig: {
    nav: [
      { text: 'Setup', link: '/tag' },
      { text: 'Comparison', link: '/comparison' },
      { text: 'Benchmarks', link: '/benchmarks' },
      { text: 'Migrating', link: '/migrating' },
      {
        text: versions?.own ?? `v${version}`,
        items: [
          ...(versions === null ? [] : [{ text: 'Versions of the docs', items: versions.all.map(linkToVersion) }]),
          ...(repository === null
            ? [{ text: 'What the words promise', link: '/promises' }]
            : [
                { text: 'Changelog', link: `${repository}/blob/main/CHANGELOG.md` },
                { text: 'Releases', link: `${repository}/releases` },
              ]),
        ],
      },
    ],
    sidebar: [
      group('Begin', [
        ['What it is', 'index'],
        ['The dashboard', 'dashboard'],
        ['The tag', 'tag'],
        ['Migrating', 'migrating'],
        ['Glossary', 'glossary'],
      ]),
      group('Use', [
        ['Probes', 'probes'],
        ['Alerts', 'alerts'],
        ['Sharing a status', 'sharing'],
        ['Analytics', 'analytics'],
        ['AI assistants (MCP)', 'mcp'],
        ['Ingest', 'ingest'],
        ['How volume is judged', 'detection'],
        ['What the words mean', 'promises'],
      ]),
      group('Run', [
        ['Deploying', 'deploy'],
        ['Configuration', 'configuration'],
        ['Configuration as code', 'config-as-code'],
        ['Access', 'access'],
        ['Operations', 'operations'],
        ['PostgreSQL and many nodes', 'postgresql'],
        ['Citus', 'citus'],
        ['Reliability', 'reliability'],
      ]),
      group('Decide', [
        ['Comparison', 'comparison'],
        ['Benchmarks', 'benchmarks'],
      ]),
      group('Understand', [
        ['Architecture', 'architecture'],
        ['Decisions', 'decisions'],
        ['How we write', 'style'],
      ]),
    ],
    outline: [2, 3],
    search: { provider: 'local' },
    ...(repository === null ? {} : { socialLinks: [{ icon: 'github', link: repository }] }),
    footer: { message: 'Apache-2.0' },
  },
})

/** Of this site, though its address is whole. */
function linkToVersion({ name, url }: { name: string; url: string }) {
  return { text: name, link: url, target: '_self', rel: '', noIcon: true }
}

function group(text: string, pages: readonly (readonly [text: string, page: string])[]) {
  return { text, items: pages.map(([title, page]) => ({ text: title, link: page === 'index' ? '/' : `/${page}` })) }
}

const HOME = {
  layout: 'home',
  hero: {
    name: 'Tagwarden',
    text: 'Know within minutes when a tag breaks',
    tagline:
      'It watches server-side tag manager containers: which tags fail, since when, what it costs, and what changed.',
    actions: [
      { theme: 'brand', text: 'Try the demo', link: '#try-it' },
      { theme: 'alt', text: 'How it works', link: '#how-it-works' },
      { theme: 'alt', text: 'Comparison', link: '/comparison' },
    ],
  },
  features: [
    {
      title: 'Counts you can trust',
      details: 'An answer of 200 means that the counts are on disk. Each is counted once, across kill -9 too.',
    },
    {
      title: 'Presence, never content',
      details:
        'The tag says whether a field was there. No e-mail address, no value, no personal data leaves the container.',
    },
    {
      title: 'One incident, one message',
      details:
        'Alerts of one cause come as one incident: what is lost, since when, the likely cause, and when it is over.',
    },
    {
      title: 'Yours, and small',
      details: 'One Node process and one SQLite file, or any number of them on one PostgreSQL. Apache-2.0.',
    },
  ],
}
