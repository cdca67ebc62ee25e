import sys
import dg2
from dg2 import *
def colloc(fun,N,E=L,over=0):
    X=(np.arange(E)[:,None]+(gll(N).points+1)/2); return fun(X[None,:,None,:],X[:,None,:,None])
import s4
s4.project=colloc
for mode in ("m","f"):
  for cfg in ("1.5:8:6:h","1.25:5:6:h"):
    R,s,q,d=cfg.split(":"); R,s,q=float(R),float(s),int(q)
    tot=[]
    for p in ("odd","corner","face","middle"):
        e,*_=errors(lambda src: s4.gram(R,s,q,d,src),p,radii=(1.,1.25,1.5,2.),**(dict(force=(.8,.5)) if mode=="f" else {}))
        tot.append(np.sqrt((e**2).mean(1)))
    tot=100*np.array(tot)
    print(mode,cfg.ljust(12),"worst pos rms",np.round(tot.max(0),2),"corner",np.round(tot[1],2),"odd",np.round(tot[0],2),flush=True)
