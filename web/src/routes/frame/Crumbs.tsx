import { Link } from '@tanstack/react-router'
import { ChevronRight } from 'lucide-react'
import { useBreadcrumbs } from '../../lib/breadcrumbs.ts'
import classes from './TopBar.module.css'

export function Crumbs() {
  const { crumbs } = useBreadcrumbs()
  return (
    <nav aria-label="Breadcrumb" className={classes.crumbs}>
      <ol className={classes.crumbs}>
        {crumbs.map(({ label, to }) => (
          <li key={to ?? ''}>
            {to === undefined ? (
              <span aria-current="page">{label}</span>
            ) : (
              <>
                <Link to={to}>{label}</Link>
                <ChevronRight size={14} aria-hidden />
              </>
            )}
          </li>
        ))}
      </ol>
    </nav>
  )
}
