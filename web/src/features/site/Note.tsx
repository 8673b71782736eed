import classes from './Note.module.css'

interface Props {
  /** px: the place of the chart that it stands for. */
  height: number
  children: string
}

/** Says why a chart has nothing to draw, in its place. */
export function Note({ height, children }: Props) {
  return (
    <p className={classes.note} style={{ minHeight: height }}>
      {children}
    </p>
  )
}
