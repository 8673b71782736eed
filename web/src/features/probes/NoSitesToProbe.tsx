import { NoSites } from '../../ui/NoSites.tsx'

/** Stands where probes, or the form of one, would be. */
export function NoSitesToProbe() {
  return (
    <NoSites title="No site, so nothing to check">
      A probe checks one thing of one site, again and again: whether its tag server answers, whether its events still
      come.
    </NoSites>
  )
}
