import type { Migration } from './types.ts'

/** The share of time, in per cent, that a site is to be without a critical problem. */
export const siteTarget: Migration = {
  name: '0033-site-target',
  statements: () => ['alter table sites add column slo_target double precision'],
}
