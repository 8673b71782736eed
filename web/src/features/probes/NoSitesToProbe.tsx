import { NoSites } from '../../ui/NoSites.tsx'

/** Shown instead of probes, or of a probe's form, when there is no site. */
export function NoSitesToProbe() {
  return (
    <NoSites title="No site, so nothing to check">
      A probe checks one thing of one site, again and again: whether its tag server answers, whether its events still
      come.
    </NoSites>
  )
}
