import { Link } from '@tanstack/react-router'
import type { SiteState } from '../../api/overview.ts'
import classes from './overview.module.css'

/** The site's name, leading to its page. */
export function SiteName({ site }: { site: SiteState }) {
  return (
    <Link to="/sites/$siteId" params={{ siteId: site.id }} className={classes.name}>
      {site.name}
    </Link>
  )
}
