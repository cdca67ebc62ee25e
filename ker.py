import numpy as np
from numpy.polynomial.legendre import leggauss
x,wt=leggauss(400); r=(x+1)/2; wt=wt/2
def kern(s,q):
    w=(1-r*r)**s
    m=q//2+1
    V=np.array([r**(2*j) for j in range(m)])
    # exactness: int 4pi r^2 w P r^{2i} = delta_i0
    G=(V*(4*np.pi*r*r*w*wt))@V.T
    c=np.linalg.solve(G,np.eye(m)[0])
    return w*(c@V)
for R in (0.75,1.0,1.25,1.5):
  for s in (1,2,3,4,6):
    for q in (2,4,6,8):
      phi=kern(s,q)
      f=lambda kh: float(np.sum(4*np.pi*r*r*phi*np.sinc(kh*R*r/np.pi)*wt))
      # ppw with degree 5: kh = 2pi*5/ppw
      e=[100*(f(2*np.pi*5/p)-1) for p in (10,7,6,5)]
      h=[f(2*np.pi*5/p) for p in (4,3,2.5,2,1.5)]
      if abs(e[1])<1.5: print(R,s,q,'err%',np.round(e,2),'high',np.round(h,3))
