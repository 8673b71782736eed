import { Button } from '@mantine/core'
import { PAGE } from '../../api/tags.ts'
import { whole } from '../../lib/words.ts'
import classes from './tags.module.css'

interface Props {
  page: number
  total: number
  onTurn: (page: number) => void
}

/** Buttons to page through a long list. */
export function Pager({ page, total, onTurn }: Props) {
  if (total <= PAGE && page === 0) return null
  const last = Math.min(total, PAGE * (page + 1))
  return (
    <nav className={classes.pager} aria-label="Pages of the list">
      <Button size="compact-sm" variant="default" disabled={page === 0} onClick={() => onTurn(page - 1)}>
        Previous
      </Button>
      <span>
        {whole(Math.min(total, PAGE * page + 1))}–{whole(last)} of {whole(total)}
      </span>
      <Button size="compact-sm" variant="default" disabled={last >= total} onClick={() => onTurn(page + 1)}>
        Next
      </Button>
    </nav>
  )
}
