import { Button } from '@mantine/core'
import { ArrowLeft } from 'lucide-react'
import classes from './site.module.css'
import { useSite } from './site-scope.ts'

/** What is looked at closely, and the way back to the whole site. */
export function FocusBar({ kind, name }: { kind: string; name: string }) {
  const { view } = useSite()
  return (
    <div className={classes.focus}>
      <Button variant="default" leftSection={<ArrowLeft size={16} aria-hidden />} onClick={() => view.setFocus(null)}>
        Whole site
      </Button>
      <h2>
        <span className={classes.muted}>{kind}</span> {name}
      </h2>
    </div>
  )
}
